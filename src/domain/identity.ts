/** Of what is told about a person as a whole. */

export const NARRATIVE_KEY = 'identity:narrative'
