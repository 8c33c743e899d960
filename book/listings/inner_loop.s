# One turn: a component of 64 queries, and of 4 keys.
# rustc 1.95, x86-64, heads::product::multiply_rows for AVX-512, in single precision.
.L_next:
    cmpq %r11, %r15
    jae .L_panic
    vbroadcastss (%r14,%r15,4), %zmm16
    vmovups (%rcx), %zmm17
    vmovups 64(%rcx), %zmm18
    vmovups 128(%rcx), %zmm19
    vmovups 192(%rcx), %zmm20
    vfmadd231ps %zmm17, %zmm16, %zmm15
    vfmadd231ps %zmm18, %zmm16, %zmm14
    vfmadd231ps %zmm19, %zmm16, %zmm13
    vfmadd231ps %zmm16, %zmm20, %zmm12
    vbroadcastss (%r8,%r15,4), %zmm16
    vfmadd231ps %zmm17, %zmm16, %zmm11
    vfmadd231ps %zmm18, %zmm16, %zmm10
    vfmadd231ps %zmm19, %zmm16, %zmm9
    vfmadd231ps %zmm16, %zmm20, %zmm8
    vbroadcastss (%r10,%r15,4), %zmm16
    vfmadd231ps %zmm17, %zmm16, %zmm7
    vfmadd231ps %zmm18, %zmm16, %zmm6
    vfmadd231ps %zmm19, %zmm16, %zmm5
    vfmadd231ps %zmm16, %zmm20, %zmm4
    vbroadcastss (%rax,%r15,4), %zmm16
    incq %r15
    vfmadd231ps %zmm17, %zmm16, %zmm3
    vfmadd231ps %zmm18, %zmm16, %zmm2
    vfmadd231ps %zmm19, %zmm16, %zmm1
    vfmadd231ps %zmm20, %zmm16, %zmm0
    addq $256, %rcx
    cmpq %rsi, %rcx
    jne .L_next
