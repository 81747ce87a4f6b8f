import { DropdownMenu } from 'radix-ui'
import type { ReactNode } from 'react'
import { Icon, type IconName } from './icon.tsx'
import styles from './menu.module.css'

export function Menu({ trigger, children }: { trigger: ReactNode; children: ReactNode }) {
  return (
    <DropdownMenu.Root modal={false}>
      <DropdownMenu.Trigger asChild>{trigger}</DropdownMenu.Trigger>
      <DropdownMenu.Portal>
        <DropdownMenu.Content
          className={styles.menu}
          align="end"
          sideOffset={4}
          collisionPadding={8}
        >
          {children}
        </DropdownMenu.Content>
      </DropdownMenu.Portal>
    </DropdownMenu.Root>
  )
}

export function MenuItem({
  icon,
  children,
  onSelect,
  isDangerous = false,
  isDisabled = false,
  isSelected,
}: {
  icon?: IconName
  children: ReactNode
  onSelect: () => void
  isDangerous?: boolean
  isDisabled?: boolean
  /** Set for items of which one is selected. */
  isSelected?: boolean
}) {
  const Item = isSelected === undefined ? DropdownMenu.Item : DropdownMenu.CheckboxItem
  return (
    <Item
      className={[styles.item, isDangerous ? styles.danger : ''].join(' ')}
      onSelect={onSelect}
      disabled={isDisabled}
      {...(isSelected === undefined ? {} : { checked: isSelected })}
    >
      <span className={styles.icon}>
        {isSelected === true ? (
          <Icon name="check" size={16} />
        ) : (
          icon !== undefined && <Icon name={icon} size={16} />
        )}
      </span>
      {children}
    </Item>
  )
}

export function MenuLine() {
  return <DropdownMenu.Separator className={styles.line} />
}
