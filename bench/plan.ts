/** What a long bench still has to do, and how long that will take. */

export type Step = {
  readonly what: string
  /** An estimate, only for the progress display. */
  readonly seconds: number
  readonly work: (tell: (share: number) => void) => Promise<unknown>
}

/** Steps one after the other, with a word on how long the rest will take. */
export class Plan {
  readonly #progress: (what: string) => void
  readonly #steps: Step[] = []
  readonly #began = performance.now()
  #doneSeconds = 0
  #current = ''

  constructor(progress: (what: string) => void) {
    this.#progress = progress
  }

  add(what: string, seconds: number, work: Step['work']): void {
    this.#steps.push({ what, seconds, work })
  }

  addNext(steps: readonly Step[]): void {
    this.#steps.unshift(...steps)
  }

  readonly say = (what: string): void => {
    this.#progress(what)
  }

  /** Stays readable when the line of progress goes on. */
  remark(what: string): void {
    process.stderr.write(`\n${what}\n`)
  }

  async run(): Promise<void> {
    for (let step = this.#steps.shift(); step !== undefined; step = this.#steps.shift()) {
      const { what, seconds, work } = step
      this.#current = what
      this.#tell(seconds, 0)
      await work((share) => this.#tell(seconds, share))
      this.#doneSeconds += seconds
    }
  }

  /** As slow as the steps so far were, against what was guessed for them. */
  #tell(seconds: number, share: number): void {
    const done = this.#doneSeconds + seconds * share
    const left = seconds * (1 - share) + this.#steps.reduce((sum, step) => sum + step.seconds, 0)
    const pace = done === 0 ? 1 : (performance.now() - this.#began) / 1_000 / done
    const percent = share > 0 ? `, ${Math.round(share * 100)} %` : ''
    this.#progress(`${this.#current}${percent}, about ${Math.ceil((left * pace) / 60)} min left`)
  }
}
