/** What the stand-in keeps, and how it says that something is wrong. */
export type Payload = { readonly [name: string]: unknown }

export type StoredPoint = {
  readonly id: string | number
  /** Of length one, by name. */
  readonly vectors: Readonly<Record<string, Float32Array>>
  readonly payload: Payload
  readonly version: number
}

/** Answered with this status and sentence, in Qdrant's form. */
export class QdrantFault extends Error {
  readonly status: number

  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}
