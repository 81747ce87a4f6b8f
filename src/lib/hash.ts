/**
 * SHA-256 (FIPS 180-4) of a text, as hex. It lives here because `core` takes nothing from the platform, and
 * the platform's synchronous hash is Node's alone.
 */
const ROUND_CONSTANTS = new Int32Array(64)
const INITIAL_STATE = new Int32Array(8)

// The constants are the fractional bits of the square and cube roots of the first primes.
for (let candidate = 2, count = 0; count < 64; candidate++) {
  let isPrime = true
  for (let divisor = 2; divisor * divisor <= candidate; divisor++) {
    if (candidate % divisor === 0) isPrime = false
  }
  if (!isPrime) continue
  if (count < 8) INITIAL_STATE[count] = fractionBits(candidate ** (1 / 2))
  ROUND_CONSTANTS[count++] = fractionBits(candidate ** (1 / 3))
}

function fractionBits(value: number): number {
  return ((value - Math.floor(value)) * 2 ** 32) | 0
}

const encoder = new TextEncoder()
const schedule = new Int32Array(64)

export function sha256(text: string): string {
  const bytes = encoder.encode(text)
  const padded = new Uint8Array(((bytes.length + 72) >> 6) << 6)
  padded.set(bytes)
  padded[bytes.length] = 0x80
  const view = new DataView(padded.buffer)
  view.setUint32(padded.length - 8, Math.floor(bytes.length / 2 ** 29))
  view.setUint32(padded.length - 4, bytes.length << 3)

  const state = Int32Array.from(INITIAL_STATE)
  for (let offset = 0; offset < padded.length; offset += 64) compress(state, view, offset)
  return Array.from(state, (word) => (word >>> 0).toString(16).padStart(8, '0')).join('')
}

function compress(state: Int32Array, view: DataView, offset: number): void {
  const w = schedule
  const k = ROUND_CONSTANTS
  for (let i = 0; i < 16; i++) w[i] = view.getInt32(offset + i * 4)
  // Indexes stay within the arrays' bounds, which the checker can't see; `??` here would double the time.
  for (let i = 16; i < 64; i++) {
    const w15 = w[i - 15] as number
    const w2 = w[i - 2] as number
    const s0 = rotate(w15, 7) ^ rotate(w15, 18) ^ (w15 >>> 3)
    const s1 = rotate(w2, 17) ^ rotate(w2, 19) ^ (w2 >>> 10)
    w[i] = ((w[i - 16] as number) + s0 + (w[i - 7] as number) + s1) | 0
  }
  let [a, b, c, d] = [
    state[0] as number,
    state[1] as number,
    state[2] as number,
    state[3] as number,
  ]
  let [e, f, g, h] = [
    state[4] as number,
    state[5] as number,
    state[6] as number,
    state[7] as number,
  ]
  for (let i = 0; i < 64; i++) {
    const s1 = rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)
    const t1 = (h + s1 + ((e & f) ^ (~e & g)) + (k[i] as number) + (w[i] as number)) | 0
    const s0 = rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)
    const t2 = (s0 + ((a & b) ^ (a & c) ^ (b & c))) | 0
    h = g
    g = f
    f = e
    e = (d + t1) | 0
    d = c
    c = b
    b = a
    a = (t1 + t2) | 0
  }
  for (const [i, sum] of [a, b, c, d, e, f, g, h].entries()) state[i] = (state[i] as number) + sum
}

function rotate(word: number, bits: number): number {
  return (word >>> bits) | (word << (32 - bits))
}
