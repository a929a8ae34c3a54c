//! The values that operators are tried on, and which results are the same.

use azulejo::__private::core::vocab::{OpInfo, Props, Type};

/// Values at which the behaviour of operators changes.
pub(crate) fn edges(ty: Type) -> Vec<u64> {
    match ty {
        Type::Flag => vec![0, 1],
        Type::F32 => [0.0f32, -0.0, 1.0, -1.0, 0.5, -0.5, 1.5, 2.5, -2.5, 127.9, 255.9, -128.9, 8_388_609.0]
            .into_iter()
            .chain([65_535.9, 2_147_483_648.0, 4_294_967_296.0, 9.3e18, 1.9e19, -1e30, 3e38, 1e-40])
            .chain([f32::INFINITY, f32::NEG_INFINITY, f32::NAN, f32::from_bits(0xffe1_2345)])
            .map(|value| value.to_bits() as u64)
            .collect(),
        Type::F64 => [0.0f64, -0.0, 1.0, -1.0, 0.5, -0.5, 1.5, 2.5, -2.5, 127.9, 255.9, -128.9, 65_535.9]
            .into_iter()
            .chain([2_147_483_647.5, -2_147_483_648.9, 4_294_967_295.5, 4_503_599_627_370_497.5, 9.3e18])
            .chain([1.9e19, -9.3e18, -1e30, 1e300, 1.2345678901234e20, -3.6893488147419103e19, 1e-310])
            .chain([f64::INFINITY, f64::NEG_INFINITY, f64::NAN, f64::from_bits(0xfffa_1234_5678_9abc)])
            .map(f64::to_bits)
            .collect(),
        _ => {
            let top = 1u64 << (ty.bits() - 1);
            let all = [
                0,
                1,
                2,
                3,
                7,
                8,
                31,
                33,
                127,
                128,
                255,
                0x5a,
                top - 1,
                top,
                top + 1,
                u64::MAX,
                u64::MAX - 1,
            ];
            let mut all: Vec<u64> = all.iter().map(|value| ty.truncate(*value)).collect();
            all.push(ty.truncate(0x1234_5678_9abc_def0));
            all.push(ty.truncate(0xffff_ffff_8000_0000));
            all.sort_unstable();
            all.dedup();
            all
        }
    }
}

/// Whether two results are the same: all NaNs are, if the operator may return any of them.
pub(crate) fn same(info: &OpInfo, ty: Type, a: u64, b: u64) -> bool {
    let is_nan = |bits: u64| match ty {
        Type::F32 => f32::from_bits(bits as u32).is_nan(),
        Type::F64 => f64::from_bits(bits).is_nan(),
        _ => false,
    };
    a == b || info.props.contains(Props::ANY_NAN) && is_nan(a) && is_nan(b)
}

pub(crate) fn combinations(types: &[Type]) -> Vec<Vec<u64>> {
    let mut all = vec![Vec::new()];
    for ty in types {
        all = all
            .iter()
            .flat_map(|known| {
                edges(*ty).into_iter().map(move |value| known.iter().copied().chain([value]).collect())
            })
            .collect();
    }
    all
}
