import { useI18n } from '../i18n/i18n.tsx'
import { useToast } from '../ui/toast.tsx'

/** Puts a text where it can be pasted from, and tells so. Pages without TLS may not; then the text itself is told. */
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
