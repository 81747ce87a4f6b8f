import type { Placement } from '../formats/format.ts'
import type { SystemRole } from '../providers.ts'
import type { Settings } from '../settings.ts'

/** Where the block goes, by what the owner wants and what the model can take. */
export function placementFor(
  position: Settings['injectPosition'],
  systemRole: SystemRole,
): Placement {
  if (position === 'auto') return 'turn-end'
  if (position === 'user') return 'turn-start'
  return SYSTEM_PLACEMENTS[systemRole]
}

const SYSTEM_PLACEMENTS: Readonly<Record<SystemRole, Placement>> = {
  any: 'system',
  leading: 'system-merged',
  none: 'message',
}
