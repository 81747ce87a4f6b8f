import { expect, it } from 'vitest'
import { hashParts, sha256 } from './hash.ts'

// Ids and checksums that are stored depend on these bytes: a change would orphan them.
it('hashes text as UTF-8, by the test vectors of FIPS 180-4', () => {
  expect(sha256('')).toBe('e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855')
  expect(sha256('abc')).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad')
  expect(sha256('abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq')).toBe(
    '248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1',
  )
  expect(sha256('a'.repeat(1_000_000))).toBe(
    'cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0',
  )
})

it('replaces lone surrogates, as every UTF-8 encoder does', () => {
  expect(sha256('\ud800')).toBe(sha256('\ufffd'))
  expect(sha256('é漢😀')).toBe(sha256(new TextEncoder().encode('é漢😀')))
})

it('hashes parts as a JSON list of forty digits', () => {
  expect(hashParts('session', 1, null)).toBe(sha256('["session",1,null]').slice(0, 40))
  expect(hashParts('a', 'b')).not.toBe(hashParts('a","b'))
})
