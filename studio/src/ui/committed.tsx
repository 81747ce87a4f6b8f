import { type ComponentProps, useEffect, useState } from 'react'
import { TextField } from './field.tsx'

/** A field that counts when it is left, or with Enter: half a name finds nobody. */
export function CommittedField({
  value,
  onCommit,
  ...rest
}: Omit<ComponentProps<typeof TextField>, 'value' | 'onChange' | 'onBlur' | 'onKeyDown'> & {
  value: string
  onCommit: (value: string) => void
}) {
  const [text, setText] = useState(value)
  useEffect(() => setText(value), [value])
  const commit = () => {
    if (text.trim() !== value) onCommit(text.trim())
  }
  return (
    <TextField
      {...rest}
      value={text}
      onChange={({ target }) => setText(target.value)}
      onBlur={commit}
      onKeyDown={({ key }) => key === 'Enter' && commit()}
    />
  )
}
