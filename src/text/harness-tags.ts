/**
 * Tags that agent harnesses insert into user messages for the model alone: reminders, editor state. The user did not
 * write them, so they are neither searched nor recorded nor learned from.
 */
const NAMES = [
  'system-reminder',
  'environment_context',
  'environment_details',
  'user_instructions',
  'ide_opened_file',
  'ide_selection',
] as const

/** Removes the tags with their content, in linear time. */
export function stripHarnessTags(text: string): string {
  return NAMES.reduce(stripTag, text)
}

function stripTag(text: string, name: string): string {
  const opening = `<${name}>`
  const closing = `</${name}>`
  let stripped = ''
  let from = 0
  for (;;) {
    const start = text.indexOf(opening, from)
    const end = start < 0 ? -1 : text.indexOf(closing, start + opening.length)
    if (end < 0) return from === 0 ? text : stripped + text.slice(from)
    stripped += text.slice(from, start)
    from = end + closing.length
  }
}
