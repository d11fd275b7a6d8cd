//! SHA-256 in hexadecimal, for values the vectors give as a hash.

/// The hash of some bytes.
pub(super) fn hex(bytes: &[u8]) -> String {
    let mut state: [u32; 8] = constants(8, 2);
    let rounds: [u32; 64] = constants(64, 3);
    let mut message = bytes.to_vec();
    message.push(0x80);
    while message.len() % 64 != 56 {
        message.push(0);
    }
    message.extend_from_slice(&(bytes.len() as u64 * 8).to_be_bytes());
    for block in message.chunks_exact(64) {
        let mut words = [0_u32; 64];
        for (word, bytes) in words.iter_mut().zip(block.chunks_exact(4)) {
            *word = u32::from_be_bytes(bytes.try_into().unwrap());
        }
        for at in 16..64 {
            let (a, b) = (words[at - 15], words[at - 2]);
            let low = a.rotate_right(7) ^ a.rotate_right(18) ^ (a >> 3);
            let high = b.rotate_right(17) ^ b.rotate_right(19) ^ (b >> 10);
            words[at] = words[at - 16].wrapping_add(low).wrapping_add(words[at - 7]).wrapping_add(high);
        }
        let [mut a, mut b, mut c, mut d, mut e, mut f, mut g, mut h] = state;
        for (word, round) in words.iter().zip(rounds) {
            let high = e.rotate_right(6) ^ e.rotate_right(11) ^ e.rotate_right(25);
            let first =
                h.wrapping_add(high).wrapping_add((e & f) ^ (!e & g)).wrapping_add(round).wrapping_add(*word);
            let low = a.rotate_right(2) ^ a.rotate_right(13) ^ a.rotate_right(22);
            let second = low.wrapping_add((a & b) ^ (a & c) ^ (b & c));
            (h, g, f, e) = (g, f, e, d.wrapping_add(first));
            (d, c, b, a) = (c, b, a, first.wrapping_add(second));
        }
        for (sum, value) in state.iter_mut().zip([a, b, c, d, e, f, g, h]) {
            *sum = sum.wrapping_add(value);
        }
    }
    state.iter().map(|word| format!("{word:08x}")).collect()
}

/// The first 32 bits of the fractional parts of the `root`-th roots of the first primes.
fn constants<const COUNT: usize>(_count: usize, root: u32) -> [u32; COUNT] {
    let mut found = [0; COUNT];
    let mut at = 0;
    let mut candidate = 2_u128;
    while at < COUNT {
        if (2..candidate).take_while(|d| d * d <= candidate).all(|d| !candidate.is_multiple_of(d)) {
            // floor(candidate^(1/root) * 2^32) by bisection.
            let target = candidate << (32 * root);
            let (mut low, mut high) = (0_u128, 1 << 40);
            while high - low > 1 {
                let middle = (low + high) / 2;
                if middle.pow(root) <= target { low = middle } else { high = middle }
            }
            found[at] = low as u32;
            at += 1;
        }
        candidate += 1;
    }
    found
}

#[test]
fn the_hash_of_abc_is_right() {
    assert_eq!(hex(b"abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}
