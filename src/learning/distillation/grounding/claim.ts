/** A statement of a model, the turns that it is checked against, and the result. */

export type GroundingTurn = {
  readonly index: number
  readonly role: string
  readonly speaker?: string | null
  readonly content: string
  /** When it was said; null when unknown, which allows no computed dates. */
  readonly saidAt: number | null
}

export type Claim = {
  readonly content: string
  /** Indexes of the turns that the model names as sources. */
  readonly turns: readonly number[]
  /** Whom the claim is about, when it is not the user. */
  readonly about?: string
}

export type UngroundedReason =
  /** A placeholder, a remark about the transcript, or a claim of rights over the assistant. */
  | 'inadmissible'
  /** No cited turn exists or is the user's, and no other turn of the user supports the claim. */
  | 'source'
  | 'name'
  | 'number'
  | 'polarity'
  /** Supported only as a wish, a question or an assumption, or as a state that ended. */
  | 'modality'
  | 'subject'
  | 'words'

export type Grounding =
  | {
      readonly isGrounded: true
      /** Turns of the user that support the claim, among the cited ones where those do. */
      readonly turns: readonly number[]
      /** Whether the user said it about themself in the first person. */
      readonly isFirstPerson: boolean
    }
  | { readonly isGrounded: false; readonly reason: UngroundedReason }
