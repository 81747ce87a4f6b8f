import type { ComponentProps } from 'react'
import styles from './button.module.css'
import { Icon, type IconName } from './icon.tsx'
import { Tooltip } from './tooltip.tsx'

type ButtonProps = ComponentProps<'button'> & {
  look?: 'plain' | 'primary' | 'danger' | 'quiet'
  isSmall?: boolean
  icon?: IconName
  /** Disables the button and shows a spinner. */
  isBusy?: boolean
}

export function Button({
  look = 'plain',
  isSmall = false,
  icon,
  isBusy = false,
  children,
  className,
  disabled,
  ...rest
}: ButtonProps) {
  const classNames = [
    styles.button,
    look === 'plain' ? '' : styles[look],
    isSmall ? styles.small : '',
  ]
  return (
    <button
      type="button"
      {...rest}
      disabled={disabled === true || isBusy}
      aria-busy={isBusy || undefined}
      className={[...classNames, className].filter(Boolean).join(' ')}
    >
      {isBusy ? (
        <span className={styles.spinner} aria-hidden="true" />
      ) : (
        icon !== undefined && <Icon name={icon} size={16} />
      )}
      {children}
    </button>
  )
}

/** An icon button. Its name is the accessible name and the tooltip. */
export function IconButton({
  icon,
  name,
  isSmall = false,
  look = 'quiet',
  className,
  ...rest
}: Omit<ButtonProps, 'icon' | 'children'> & { icon: IconName; name: string }) {
  const classNames = [styles.button, styles.square, look === 'plain' ? '' : styles[look]]
  return (
    <Tooltip text={name}>
      <button
        type="button"
        aria-label={name}
        {...rest}
        className={[...classNames, isSmall ? styles.small : '', className]
          .filter(Boolean)
          .join(' ')}
      >
        <Icon name={icon} size={isSmall ? 16 : 18} />
      </button>
    </Tooltip>
  )
}
