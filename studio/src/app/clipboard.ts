import { useI18n } from '../i18n/i18n.tsx'
import { useTell } from '../ui/toast.tsx'

/** Puts a text where it can be pasted from, and tells so. Pages without TLS may not; then the text itself is told. */
export function useCopy(): (text: string, told?: string) => Promise<void> {
  const { t } = useI18n()
  const tell = useTell()
  return async (text, told = t('common.copied')) => {
    try {
      await navigator.clipboard.writeText(text)
      tell({ text: told })
    } catch {
      tell({ text: t('common.notCopied', { text }), isBad: true })
    }
  }
}
