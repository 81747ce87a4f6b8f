/** Identity of the process that holds a lease, so that leases of processes that are gone are taken over at once. */
import { readFileSync, readlinkSync } from 'node:fs'
import { hostname } from 'node:os'
import { hashParts } from '../lib/hash.ts'

export type ProcessRegistry = {
  /** This process: machine, process id and start time. */
  readonly own: string
  /** Whether the process ran on this machine and has ended. */
  isGone(process: string): boolean
}

/**
 * The machine in the sense of process ids: containers of one host have ids of their own. Another boot is another machine,
 * whose leases expire.
 */
function readMachineId(): string {
  const parts = [() => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8'), readPidNamespace]
  return hashParts(hostname(), ...parts.map(readOrEmpty)).slice(0, 16)
}

function readPidNamespace(): string {
  return readlinkSync('/proc/self/ns/pid')
}

/** The start time in clock ticks since boot, on Linux: process ids are reused. Empty elsewhere, or without the process. */
function readStartTime(pid: number): string {
  return readOrEmpty(() => {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    // The name of the program, in parentheses, may contain spaces.
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[START_TIME_FIELD] ?? ''
  })
}

/** Counted from the state, which follows the name. */
const START_TIME_FIELD = 19

function readOrEmpty(read: () => string): string {
  try {
    return read().trim()
  } catch {
    return '' // not on Linux, or not permitted
  }
}

export function createProcessRegistry(): ProcessRegistry {
  const machine = readMachineId()
  return {
    own: `${machine}:${process.pid}:${readStartTime(process.pid)}`,
    isGone: (holder) => {
      const [at, pid = '', startTime = ''] = holder.split(':')
      if (at !== machine || !/^\d{1,10}$/.test(pid)) return false
      if (!isRunning(Number(pid))) return true
      const current = readStartTime(Number(pid))
      return startTime !== '' && current !== '' && current !== startTime
    },
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    // A process of another user exists as well.
    return error instanceof Error && 'code' in error && error.code !== 'ESRCH'
  }
}
