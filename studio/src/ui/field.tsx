import { Switch as RadixSwitch } from 'radix-ui'
import { type ComponentProps, type ReactNode, useId } from 'react'
import styles from './field.module.css'
import { InfoTip } from './tooltip.tsx'

type FieldProps = {
  label: string
  /** Shows the label to screen readers only. */
  isLabelHidden?: boolean
  /** Explains the term in the label, in a tooltip. */
  info?: string | undefined
  help?: ReactNode
  fault?: string | undefined
}

function FieldLayout({
  id,
  label,
  isLabelHidden = false,
  info,
  help,
  fault,
  children,
}: FieldProps & { id: string; children: ReactNode }) {
  return (
    <div className={styles.field}>
      {info === undefined ? (
        <label htmlFor={id} className={isLabelHidden ? 'visually-hidden' : styles.label}>
          {label}
        </label>
      ) : (
        <div className={styles.labelRow}>
          <label htmlFor={id} className={styles.label}>
            {label}
          </label>
          <InfoTip text={info} />
        </div>
      )}
      {children}
      {fault !== undefined ? (
        <p id={`${id}-note`} className={styles.fault} role="alert">
          {fault}
        </p>
      ) : (
        help !== undefined && (
          <p id={`${id}-note`} className={styles.help}>
            {help}
          </p>
        )
      )}
    </div>
  )
}

function describeField(id: string, { help, fault }: FieldProps) {
  return {
    id,
    className: styles.input,
    'aria-invalid': fault !== undefined || undefined,
    'aria-describedby': help !== undefined || fault !== undefined ? `${id}-note` : undefined,
  }
}

function splitFieldProps<Props extends FieldProps>(props: Props) {
  const { label, isLabelHidden = false, info, help, fault, ...rest } = props
  return { fieldProps: { label, isLabelHidden, info, help, fault }, rest }
}

export function TextField(props: FieldProps & ComponentProps<'input'>) {
  const id = useId()
  const { fieldProps, rest } = splitFieldProps(props)
  return (
    <FieldLayout id={id} {...fieldProps}>
      <input {...rest} {...describeField(id, fieldProps)} />
    </FieldLayout>
  )
}

export function TextArea(props: FieldProps & ComponentProps<'textarea'>) {
  const id = useId()
  const { fieldProps, rest } = splitFieldProps(props)
  return (
    <FieldLayout id={id} {...fieldProps}>
      <textarea {...rest} {...describeField(id, fieldProps)} />
    </FieldLayout>
  )
}

export function Select<Value extends string>({
  options,
  onValueChange,
  ...props
}: FieldProps &
  Omit<ComponentProps<'select'>, 'onChange'> & {
    options: readonly { readonly value: Value; readonly text: string }[]
    onValueChange: (value: Value) => void
  }) {
  const id = useId()
  const { fieldProps, rest } = splitFieldProps(props)
  return (
    <FieldLayout id={id} {...fieldProps}>
      <select
        {...rest}
        {...describeField(id, fieldProps)}
        onChange={({ target }) => onValueChange(target.value as Value)} // an option value
      >
        {options.map(({ value, text }) => (
          <option key={value} value={value}>
            {text}
          </option>
        ))}
      </select>
    </FieldLayout>
  )
}

export function Switch({
  label,
  isOn,
  onCheckedChange,
  isLabelHidden = false,
  isDisabled = false,
}: {
  label: string
  isOn: boolean
  onCheckedChange: (isOn: boolean) => void
  isLabelHidden?: boolean
  isDisabled?: boolean
}) {
  const id = useId()
  return (
    <span className={styles.switch}>
      <RadixSwitch.Root
        id={id}
        className={styles.track}
        checked={isOn}
        disabled={isDisabled}
        onCheckedChange={onCheckedChange}
      >
        <RadixSwitch.Thumb className={styles.thumb} />
      </RadixSwitch.Root>
      <label htmlFor={id} className={isLabelHidden ? 'visually-hidden' : ''}>
        {label}
      </label>
    </span>
  )
}

export function Checkbox({
  name,
  isOn,
  isMixed = false,
  onCheckedChange,
  ...rest
}: {
  name: string
  isOn: boolean
  isMixed?: boolean
  onCheckedChange: (isOn: boolean) => void
} & Omit<ComponentProps<'input'>, 'name' | 'onChange'>) {
  return (
    <input
      {...rest}
      type="checkbox"
      aria-label={name}
      className={styles.check}
      checked={isOn}
      ref={(element) => {
        if (element !== null) element.indeterminate = isMixed
      }}
      onChange={({ target }) => onCheckedChange(target.checked)}
    />
  )
}
