/**
 * Lists the tests that passed only on a retry, with the error of each failed attempt, in the file that
 * `TEST_RETRIES_FILE` names: other reporters count them as passed and say no more.
 */
import { writeFileSync } from 'node:fs'
import { relative } from 'node:path'

export default class RetryReporter {
  #retried = []

  onTestCaseResult(test) {
    const { flaky = false, retryCount = 0 } = test.diagnostic() ?? {}
    if (!flaky) return
    const errors = (test.result().errors ?? []).map(({ message, stack }) => stack ?? message)
    const file = relative(process.cwd(), test.module.moduleId)
    this.#retried.push({ file, name: test.fullName, retries: retryCount, errors })
  }

  onTestRunEnd() {
    writeFileSync(process.env.TEST_RETRIES_FILE, JSON.stringify(this.#retried))
  }
}
