/** A transparent PNG of one pixel, Base64. */
export const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=='

/** A WAV file without samples: 8 bits, mono, 8 kHz. */
export const SILENCE: Uint8Array = new Uint8Array([
  ...ascii('RIFF'),
  ...[36, 0, 0, 0],
  ...ascii('WAVEfmt '),
  ...[16, 0, 0, 0, 1, 0, 1, 0, 64, 31, 0, 0, 64, 31, 0, 0, 1, 0, 8, 0],
  ...ascii('data'),
  ...[0, 0, 0, 0],
])

function ascii(text: string): Uint8Array {
  return new TextEncoder().encode(text)
}
