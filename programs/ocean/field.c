/* Cutting and frames, behind field.h. SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "field.h"

#include "grid.h"

struct cut cut_for(int threads) {
    struct cut cut = {threads, 1, 1};
    while (cut.down * cut.across < threads) {
        if (cut.down <= cut.across) {
            cut.down *= 2;
        } else {
            cut.across *= 2;
        }
    }
    return cut;
}

struct shape shape_for(const struct cut *cut, int points) {
    struct shape shape = {.points = points, .rows = points / cut->down, .columns = points / cut->across};
    shape.stride = shape.columns + 2;
    shape.patch_size = (size_t)(shape.rows + 2) * (size_t)shape.stride;
    return shape;
}

struct seat seat_of(const struct cut *cut, int id) {
    struct seat seat = {.id = id, .row = id / cut->across, .column = id % cut->across};
    for (int dy = -1; dy <= 1; dy++) {
        for (int dx = -1; dx <= 1; dx++) {
            int row = seat.row + dy;
            int column = seat.column + dx;
            int is_inside = row >= 0 && row < cut->down && column >= 0 && column < cut->across;
            seat.neighbours[1 + dy][1 + dx] = is_inside ? row * cut->across + column : -1;
        }
    }
    return seat;
}

size_t field_size(const struct cut *cut, const struct shape *shape) {
    return (size_t)cut->threads * shape->patch_size;
}

struct field field_over(const struct cut *cut, const struct shape *shape, double *block) {
    struct field field = {block, GRID_ALLOCATE(double *, cut->threads, "pointers to patches")};
    for (int id = 0; id < cut->threads; id++) {
        field.patches[id] = block + (size_t)id * shape->patch_size;
    }
    return field;
}

void field_free(struct field *field) {
    free(field->block);
    free(field->patches);
}

int patch_parity(const struct shape *shape, const struct seat *seat) {
    return (seat->row * shape->rows + seat->column * shape->columns) % 2;
}

/* Row `to` of the own frame from row `from` of the neighbour, both with the same columns. */
static void fetch_row(const struct shape *shape, double *own, const double *theirs, int to, int from, int first,
                      int last, int step) {
    double *target = own + (ptrdiff_t)to * shape->stride;
    const double *source = theirs + (ptrdiff_t)from * shape->stride;
    for (int column = first; column <= last; column += step) {
        target[column] = source[column];
    }
}

static void fetch_column(const struct shape *shape, double *own, const double *theirs, int to, int from, int first,
                         int last, int step) {
    for (int row = first; row <= last; row += step) {
        own[(ptrdiff_t)row * shape->stride + to] = theirs[(ptrdiff_t)row * shape->stride + from];
    }
}

static void fetch_corners(const struct shape *shape, const struct seat *seat, double *const *patches) {
    double *own = patches[seat->id];
    for (int dy = -1; dy <= 1; dy += 2) {
        for (int dx = -1; dx <= 1; dx += 2) {
            int neighbour = seat->neighbours[1 + dy][1 + dx];
            if (neighbour < 0) {
                continue;
            }
            int to_row = dy < 0 ? 0 : shape->rows + 1, from_row = dy < 0 ? shape->rows : 1;
            int to_column = dx < 0 ? 0 : shape->columns + 1, from_column = dx < 0 ? shape->columns : 1;
            own[(ptrdiff_t)to_row * shape->stride + to_column] =
                patches[neighbour][(ptrdiff_t)from_row * shape->stride + from_column];
        }
    }
}

/* The first index from 1 on along row (or column) `line` of the frame whose point has the wanted parity. */
static int first_of_parity(int corner_parity, int line, int wanted) {
    return (corner_parity + line + 1) % 2 == wanted ? 1 : 2;
}

/* The sides, but only points of one parity. */
static void fetch_colour(const struct shape *shape, const struct seat *seat, double *const *patches, int wanted) {
    const int rows = shape->rows, columns = shape->columns;
    const int up = seat->neighbours[0][1], down = seat->neighbours[2][1];
    const int left = seat->neighbours[1][0], right = seat->neighbours[1][2];
    const int corner = patch_parity(shape, seat);
    double *own = patches[seat->id];
    if (up >= 0) {
        fetch_row(shape, own, patches[up], 0, rows, first_of_parity(corner, 0, wanted), columns, 2);
    }
    if (down >= 0) {
        fetch_row(shape, own, patches[down], rows + 1, 1, first_of_parity(corner, rows + 1, wanted), columns, 2);
    }
    if (left >= 0) {
        fetch_column(shape, own, patches[left], 0, columns, first_of_parity(corner, 0, wanted), rows, 2);
    }
    if (right >= 0) {
        fetch_column(shape, own, patches[right], columns + 1, 1, first_of_parity(corner, columns + 1, wanted), rows, 2);
    }
}

void field_fetch_frame(const struct shape *shape, const struct seat *seat, double *const *patches,
                       enum frame_part part) {
    double *own = patches[seat->id];
    const int up = seat->neighbours[0][1], down = seat->neighbours[2][1];
    const int left = seat->neighbours[1][0], right = seat->neighbours[1][2];
    if (part == FRAME_RED || part == FRAME_BLACK) {
        fetch_colour(shape, seat, patches, part == FRAME_RED ? 0 : 1);
        return;
    }
    int first_row = 1, last_row = shape->rows, first_column = 1, last_column = shape->columns;
    if (part == FRAME_AND_CORNERS || part == FRAME_AND_WALLS) {
        fetch_corners(shape, seat, patches);
    }
    if (part == FRAME_AND_WALLS) {
        /* Where the frame meets a wall, its corner is a wall point that the neighbour beside holds. */
        first_row -= up < 0;
        last_row += down < 0;
        first_column -= left < 0;
        last_column += right < 0;
    }
    if (up >= 0) {
        fetch_row(shape, own, patches[up], 0, shape->rows, first_column, last_column, 1);
    }
    if (down >= 0) {
        fetch_row(shape, own, patches[down], shape->rows + 1, 1, first_column, last_column, 1);
    }
    if (left >= 0) {
        fetch_column(shape, own, patches[left], 0, shape->columns, first_row, last_row, 1);
    }
    if (right >= 0) {
        fetch_column(shape, own, patches[right], shape->columns + 1, 1, first_row, last_row, 1);
    }
}
