/* The forces of liquid water: between molecules the pair potential of Matsuoka, Clementi and Yoshimine, within one a
 * quartic one.
 *
 * A pair has fourteen separations: the two charged sites, each of them to the other's hydrogens, the hydrogens to each
 * other, the oxygens, and oxygens to hydrogens. All fourteen are formed, in the nearest periodic image, before the cutoff
 * decides: as in the programs this follows, a pair counts if any of its separations is within the cutoff.
 *
 * Not as there: the cutoff fades in over its last tenth (as a function of the oxygens' distance), so that energy is
 * kept and can be checked; of the intramolecular terms above the second order only the diagonal ones are used.
 *
 * Sources: O. Matsuoka, E. Clementi, M. Yoshimine, "CI study of the water dimer potential surface", J. Chem. Phys. 64,
 * 1976; R. Bartlett, I. Shavitt, G. Purvis, "The quartic force field of H2O determined by many-body methods that include
 * quadruple excitation effects", J. Chem. Phys. 71, 1979; B. Brooks et al., "CHARMM", J. Comput. Chem. 4, 1983 (the
 * switching function).
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef WATER_POTENTIAL_H
#define WATER_POTENTIAL_H

#include "molecule.h"

#define POTENTIAL_BOND 1.80948 /* bohr: length of a bond at rest */
#define POTENTIAL_ANGLE 1.82404 /* radians between the bonds at rest: 104.51 degrees */

/* Adds the forces between two molecules to force_a and force_b. Returns the energy of the pair, 0 if it is too far apart. */
double potential_pair_forces(const struct molecule *a, const struct molecule *b, const struct periodic_box *box,
                             double force_a[AXES][ATOMS], double force_b[AXES][ATOMS]);

/* The energy of a pair alone. */
double potential_pair_energy(const struct molecule *a, const struct molecule *b, const struct periodic_box *box);

/* The charged site for the atoms' positions. */
void potential_set_site(struct molecule *molecule);

/* The energy of one molecule's bonds; sets `force` to minus its gradient. */
double potential_bonds(const struct molecule *molecule, double force[AXES][ATOMS]);

#endif
