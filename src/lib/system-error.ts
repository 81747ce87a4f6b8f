/** The code of a system error, such as `ENOENT`. Empty for any other error. */
export function getSystemErrorCode(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : ''
}
