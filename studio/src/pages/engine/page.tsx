export function EnginePage() {
  return null
}
