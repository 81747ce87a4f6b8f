/** How it is called, or why it can't be. */
export function realQmd():
  | { readonly command: readonly string[]; readonly reason?: undefined }
  | { readonly command?: undefined; readonly reason: string }
