/**
 * What programs write into a person's message for the model alone: reminders, the state of an editor. Nobody said it,
 * so it is neither looked up nor recorded nor learned from.
 */
const NAMES = [
  'system-reminder',
  'environment_context',
  'environment_details',
  'user_instructions',
  'ide_opened_file',
  'ide_selection',
] as const

/** The text without them, in time that is linear in it. */
export function stripHarnessTags(text: string): string {
  return NAMES.reduce(removeTag, text)
}

function removeTag(text: string, name: string): string {
  const opening = `<${name}>`
  const closing = `</${name}>`
  let kept = ''
  let from = 0
  for (;;) {
    const start = text.indexOf(opening, from)
    const end = start < 0 ? -1 : text.indexOf(closing, start + opening.length)
    if (end < 0) return from === 0 ? text : kept + text.slice(from)
    kept += text.slice(from, start)
    from = end + closing.length
  }
}
