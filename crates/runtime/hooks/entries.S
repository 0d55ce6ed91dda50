/* Entries of the slow path: preserve what C may clobber and the calling function uses.
 *
 * A hook has moved the stack pointer below the red zone and pushed the address and a pointer to its site; both lie above
 * the return address here. General registers are always saved; of the vector registers, as many as the caller's text
 * names (driver/assembly/registers.rs): the entry's name says which. The stack may be aligned in any way.
 * SPDX-License-Identifier: MIT OR Apache-2.0 */

        .text

        .macro  open name
        .globl  \name
        .type   \name, @function
        .p2align 4
\name:
        .cfi_startproc
        pushq   %rbp
        .cfi_def_cfa_offset 16
        .cfi_offset %rbp, -16
        movq    %rsp, %rbp
        .cfi_def_cfa_register %rbp
        pushq   %rax
        pushq   %rcx
        pushq   %rdx
        pushq   %rsi
        pushq   %rdi
        pushq   %r8
        pushq   %r9
        pushq   %r10
        pushq   %r11
        /* Kept by C, so not restored: they complete the program's registers for the runtime's proof of a spin-wait. */
        pushq   %rbx
        pushq   %r12
        pushq   %r13
        pushq   %r14
        pushq   %r15
        .endm

        .macro  run
        movq    24(%rbp), %rdi
        movq    16(%rbp), %rsi
        leaq    -112(%rbp), %rdx
        cld
        call    __olifant_slow
        .endm

        .macro  close name
        leaq    -72(%rbp), %rsp
        popq    %r11
        popq    %r10
        popq    %r9
        popq    %r8
        popq    %rdi
        popq    %rsi
        popq    %rdx
        popq    %rcx
        popq    %rax
        popq    %rbp
        .cfi_def_cfa %rsp, 8
        ret
        .cfi_endproc
        .size   \name, . - \name
        .endm

        /* Room for `bytes`, a multiple of 64, aligned to it. */
        .macro  room bytes
        subq    $\bytes, %rsp
        andq    $-64, %rsp
        .endm

        .macro  xmm_low instruction
        .irp    n, 0, 1, 2, 3, 4, 5, 6, 7
        \instruction \n
        .endr
        .endm
        .macro  xmm_high instruction
        .irp    n, 8, 9, 10, 11, 12, 13, 14, 15
        \instruction \n
        .endr
        .endm
        .macro  zmm_high instruction
        .irp    n, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
        \instruction \n
        .endr
        .endm

        .macro  save_xmm n
        movaps  %xmm\n, (\n * 16)(%rsp)
        .endm
        .macro  load_xmm n
        movaps  (\n * 16)(%rsp), %xmm\n
        .endm
        .macro  save_ymm n
        vmovaps %ymm\n, (\n * 32)(%rsp)
        .endm
        .macro  load_ymm n
        vmovaps (\n * 32)(%rsp), %ymm\n
        .endm
        .macro  save_zmm n
        vmovaps %zmm\n, (\n * 64)(%rsp)
        .endm
        .macro  load_zmm n
        vmovaps (\n * 64)(%rsp), %zmm\n
        .endm
        .macro  masks instruction
        .irp    n, 0, 1, 2, 3, 4, 5, 6, 7
        \instruction \n
        .endr
        .endm
        /* Masks of 64 bits exist with AVX-512BW only; every processor sold with more than the foundation has it. */
        .macro  save_mask n
        kmovq   %k\n, (2048 + \n * 8)(%rsp)
        .endm
        .macro  load_mask n
        kmovq   (2048 + \n * 8)(%rsp), %k\n
        .endm

        /* The x87 stack and environment; fnsave leaves the unit as finit does, so the control word goes back in. */
        .macro  save_x87
        subq    $128, %rsp
        fnsave  (%rsp)
        fldcw   (%rsp)
        .endm
        .macro  load_x87
        frstor  (%rsp)
        addq    $128, %rsp
        .endm

        open    __olifant_enter_general
        andq    $-64, %rsp
        run
        close   __olifant_enter_general

        open    __olifant_enter_xmm8
        room    128
        xmm_low save_xmm
        run
        xmm_low load_xmm
        close   __olifant_enter_xmm8

        open    __olifant_enter_xmm16
        room    256
        xmm_low save_xmm
        xmm_high save_xmm
        run
        xmm_low load_xmm
        xmm_high load_xmm
        close   __olifant_enter_xmm16

        open    __olifant_enter_ymm
        room    512
        xmm_low save_ymm
        xmm_high save_ymm
        vzeroupper
        run
        xmm_low load_ymm
        xmm_high load_ymm
        close   __olifant_enter_ymm

        open    __olifant_enter_zmm
        room    2112
        xmm_low save_zmm
        xmm_high save_zmm
        zmm_high save_zmm
        masks   save_mask
        vzeroupper
        run
        xmm_low load_zmm
        xmm_high load_zmm
        zmm_high load_zmm
        masks   load_mask
        close   __olifant_enter_zmm

        open    __olifant_enter_x87
        room    256
        xmm_low save_xmm
        xmm_high save_xmm
        save_x87
        run
        load_x87
        xmm_low load_xmm
        xmm_high load_xmm
        close   __olifant_enter_x87

        open    __olifant_enter_ymm_x87
        room    512
        xmm_low save_ymm
        xmm_high save_ymm
        vzeroupper
        save_x87
        run
        load_x87
        xmm_low load_ymm
        xmm_high load_ymm
        close   __olifant_enter_ymm_x87

        open    __olifant_enter_zmm_x87
        room    2112
        xmm_low save_zmm
        xmm_high save_zmm
        zmm_high save_zmm
        masks   save_mask
        vzeroupper
        save_x87
        run
        load_x87
        xmm_low load_zmm
        xmm_high load_zmm
        zmm_high load_zmm
        masks   load_mask
        close   __olifant_enter_zmm_x87

        .section .note.GNU-stack, "", @progbits
