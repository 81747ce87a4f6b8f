import { createEngine } from '/work/main/src/main/compose.ts'
import {it} from "vitest"; it("x", async()=>{ const e = await createEngine({ embedding: false })
await e.remember({owner:'a'},{content:'I live in Oslo'})
for (const t of ['You told me:\n- I live in Oslo (2026-11-16)\n- I like bananas', '- I live in Oslo (2026-11-16)','- I prefer tea (2026-11-16)', "- assistant: I'll use pnpm for this repository (2026-11-16)", "- assistant: I decided to use npm (2026-11-16)"]) {
  const r = await e.learn({owner:'a'}, t); console.log(JSON.stringify(t), JSON.stringify(r.remembered.map(x=>[x.kind??x.outcome, x.memory.content])))
}
await e.close() })
