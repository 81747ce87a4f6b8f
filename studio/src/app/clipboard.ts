import { useI18n } from '../i18n/i18n.tsx'
import { useToast } from '../ui/toast.tsx'

/**
 * Copies a text to the clipboard and shows a toast. Browsers forbid this on pages without TLS; then the toast shows
 * the text.
 */
export function useCopy(): (text: string, message?: string) => Promise<void> {
  const { t } = useI18n()
  const showToast = useToast()
  return async (text, message = t('common.copied')) => {
    try {
      await navigator.clipboard.writeText(text)
      showToast({ text: message })
    } catch {
      showToast({ text: t('common.notCopied', { text }), isError: true })
    }
  }
}
