import { useI18n } from '../../i18n/i18n.tsx'
import { Button } from '../../ui/button.tsx'
import { CommitField } from '../../ui/commit-field.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Table } from '../../ui/table.tsx'
import { LIST_PRICES_DATE, type Price, resetPrices, setPrice, usePrices } from './prices.ts'

const KINDS = [
  { kind: 'input', name: 'receipts.inputTokens' },
  { kind: 'cached', name: 'receipts.cached' },
  { kind: 'output', name: 'receipts.outputTokens' },
] as const

const FREE: Price = { input: 0, cached: 0, output: 0 }

/** The prices of the models of the page. */
export function PriceDialog({
  models,
  onClose,
}: {
  models: readonly string[]
  onClose: () => void
}) {
  const { t, day } = useI18n()
  const priceOf = usePrices()
  return (
    <Dialog
      isOpen
      onClose={onClose}
      shape="wide"
      title={t('receipts.pricesTitle')}
      description={t('receipts.pricesHelp', { date: day(LIST_PRICES_DATE) })}
      footer={
        <>
          <Button onClick={resetPrices}>{t('receipts.resetPrices')}</Button>
          <Button look="primary" onClick={onClose}>
            {t('common.close')}
          </Button>
        </>
      }
    >
      <Table
        name={t('receipts.pricesTitle')}
        rows={models}
        idOf={(model) => model}
        columns={[
          { name: t('receipts.model'), cell: (model) => model },
          ...KINDS.map(({ kind, name }) => ({
            name: t(name),
            cell: (model: string) => (
              <CommitField
                label={t('receipts.priceOf', { model, kind: t(name) })}
                isLabelHidden
                type="number"
                min={0}
                step="any"
                value={String(priceOf(model)?.[kind] ?? '')}
                onCommit={(text) =>
                  setPrice(model, { ...(priceOf(model) ?? FREE), [kind]: Number(text) })
                }
              />
            ),
          })),
        ]}
      />
    </Dialog>
  )
}
