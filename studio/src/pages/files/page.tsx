export function FilesPage() {
  return null
}
