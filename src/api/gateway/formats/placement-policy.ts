import type { BlockPlacement } from '../../../domain/model-call.ts'
import type { Settings } from '../../../domain/settings/settings.ts'
import type { SystemRole } from '../../../models/provider.ts'

/** Where the block goes, by what the owner wants and what the model can take. */
export function selectPlacement(
  position: Settings['gateway.contextPosition'],
  systemRole: SystemRole,
): BlockPlacement {
  if (position === 'auto') return 'turn-end'
  if (position === 'user') return 'turn-start'
  return SYSTEM_PLACEMENTS[systemRole]
}

const SYSTEM_PLACEMENTS: Readonly<Record<SystemRole, BlockPlacement>> = {
  any: 'system',
  leading: 'system-merged',
  none: 'message',
}
