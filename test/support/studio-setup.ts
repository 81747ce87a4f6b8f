/** Before the tests of the Studio: they need a browser. */
import { installChromium } from './chromium.ts'

export function setup(): void {
  installChromium()
}
