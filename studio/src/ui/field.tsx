import { Switch as RadixSwitch } from 'radix-ui'
import { type ComponentProps, type ReactNode, useId } from 'react'
import styles from './field.module.css'

type Around = {
  label: string
  /** Keeps the label for those who hear the page only. */
  isLabelHidden?: boolean
  help?: ReactNode
  fault?: string | undefined
}

function Frame({
  id,
  label,
  isLabelHidden = false,
  help,
  fault,
  children,
}: Around & { id: string; children: ReactNode }) {
  return (
    <div className={styles.field}>
      <label htmlFor={id} className={isLabelHidden ? 'visually-hidden' : styles.label}>
        {label}
      </label>
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

function described(id: string, { help, fault }: Around) {
  return {
    id,
    className: styles.input,
    'aria-invalid': fault !== undefined || undefined,
    'aria-describedby': help !== undefined || fault !== undefined ? `${id}-note` : undefined,
  }
}

function split<Props extends Around>(props: Props) {
  const { label, isLabelHidden = false, help, fault, ...rest } = props
  return { around: { label, isLabelHidden, help, fault }, rest }
}

export function TextField(props: Around & ComponentProps<'input'>) {
  const id = useId()
  const { around, rest } = split(props)
  return (
    <Frame id={id} {...around}>
      <input {...rest} {...described(id, around)} />
    </Frame>
  )
}

export function TextArea(props: Around & ComponentProps<'textarea'>) {
  const id = useId()
  const { around, rest } = split(props)
  return (
    <Frame id={id} {...around}>
      <textarea {...rest} {...described(id, around)} />
    </Frame>
  )
}

export function Select<Value extends string>({
  options,
  onChoose,
  ...props
}: Around &
  Omit<ComponentProps<'select'>, 'onChange'> & {
    options: readonly { readonly value: Value; readonly text: string }[]
    onChoose: (value: Value) => void
  }) {
  const id = useId()
  const { around, rest } = split(props)
  return (
    <Frame id={id} {...around}>
      <select
        {...rest}
        {...described(id, around)}
        onChange={({ target }) => onChoose(target.value as Value)} // one of the options
      >
        {options.map(({ value, text }) => (
          <option key={value} value={value}>
            {text}
          </option>
        ))}
      </select>
    </Frame>
  )
}

export function Switch({
  label,
  isOn,
  onTurn,
  isLabelHidden = false,
  isDisabled = false,
}: {
  label: string
  isOn: boolean
  onTurn: (isOn: boolean) => void
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
        onCheckedChange={onTurn}
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
  onTurn,
  ...rest
}: {
  name: string
  isOn: boolean
  isMixed?: boolean
  onTurn: (isOn: boolean) => void
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
      onChange={({ target }) => onTurn(target.checked)}
    />
  )
}
