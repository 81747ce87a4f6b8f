/** Messages that need no memory: small talk, calculations and general questions. */
import { STOP_WORDS } from '../../text/search/stopwords.ts'

const WORDS_MAX = 16
const WORDS = /[\p{L}\p{N}][\p{L}\p{N}\p{M}]*/gu

/** Small talk contains at least one of these words. */
const POLITE_WORDS: ReadonlySet<string> = new Set(
  (
    'hi hello hey yo greetings morning afternoon evening night bye goodbye cheers thanks thank thx ty welcome please sorry ' +
    'ok okay sure yes yeah yep no nope great good nice glad happy pleased lovely awesome wonderful perfect excellent amazing ' +
    'fantastic cool noted understood acknowledged pleasure enjoy worries luck lol haha wow exactly absolutely certainly ' +
    'definitely indeed helpful see oh congratulations congrats alright hope ' +
    'hallo guten tag morgen abend tschuss tschüss danke dankeschön bitte gern gerne geschehen klar super prima toll schön ' +
    'freut verstanden notiert ja nein natürlich entschuldigung ' +
    'bonjour salut merci bonsoir revoir plaisir enchanté accord parfait oui non bienvenue ' +
    'hola gracias buenos buenas adiós gusto encantado encantada vale perfecto genial ' +
    'olá oi obrigado obrigada tchau prazer perfeito ótimo'
  ).split(' '),
)

/** Small talk may also contain these words. */
const FILLER_WORDS: ReadonlySet<string> = new Set(
  (
    'sounds hear meet meeting know let lets help helps helped assist assistance need else anything question questions free ' +
    'feel ask course problem problems care day weekend soon later today tomorrow got it right interesting really much very ' +
    'so well done fun im ill ive youre thats its dont cant lot always works work now funny talk again say go going come on ' +
    'up i me my we us our you your to if is are am be the a an and or for of in on at with can could will would do does did ' +
    'this that what how any there here just not as have has was were one sentence keep mind remember ' +
    'mich kennenzulernen alles viel spaß erfolg glück bis bald später helfen frage fragen ich dir dich das ist ' +
    'beaucoup bien aider je vous suis très ' +
    'muchas días tardes noches mucho nada ayudar claro muy bien ' +
    'bom boa dia tarde noite claro ajudar muito'
  ).split(' '),
)
const PLEASANTRY = /^\W*(?:how are you|how(?:'s| is) it going|what(?:'s| is) up|wie geht)/iu

/** For example "Great to meet you! Let me know if you need anything else." */
export function isSmallTalk(text: string): boolean {
  const words = text.toLowerCase().replaceAll(/['’]/gu, '').match(WORDS) ?? []
  if (words.length > WORDS_MAX) return false
  const isPolite = PLEASANTRY.test(text) || words.some((word) => POLITE_WORDS.has(word))
  return isPolite && words.every(isFillerWord)
}

/** Whether a word carries no information of its own. */
export function isFillerWord(word: string): boolean {
  return POLITE_WORDS.has(word) || FILLER_WORDS.has(word) || STOP_WORDS.has(word)
}

const CALCULATION_WORDS: ReadonlySet<string> = new Set(
  (
    'convert calculate compute what whats how much many is are in into to of as equals plus minus times divided by percent ' +
    'square root and a an the please pls ' +
    'wie viel viele sind ist rechne umrechnen um durch mal geteilt prozent und von in zu ' +
    'convierte calcula cuánto cuántos cuántas es son en a por ciento de entre más menos ' +
    'convertis calcule combien font fait fois pour cent'
  ).split(' '),
)
const UNIT_WORDS: ReadonlySet<string> = new Set(
  (
    'mm cm m km inch inches foot feet ft yard yards yd mile miles mi metre metres meter meters kilometre kilometres kilometer ' +
    'kilometers centimetre centimetres centimeter centimeters mg g kg gram grams kilo kilos kilogram kilograms ounce ounces oz ' +
    'pound pounds lb lbs stone ml l litre litres liter liters gallon gallons cup cups pint pints teaspoon teaspoons tablespoon ' +
    'tablespoons tsp tbsp celsius fahrenheit kelvin c f k degree degrees acre acres hectare hectares mph kmh kph knots second ' +
    'seconds minute minutes hour hours day days week weeks kb mb gb tb ' +
    'meile meilen meter zoll fuß grad stunden minuten sekunden tage kilometer liter gramm pfund unzen ' +
    'milla millas metros kilómetros litros gramos libras grados horas minutos segundos días'
  ).split(' '),
)
const NUMBER = /^\d+(?:st|nd|rd|th|km|cm|mm|m|kg|g|ml|l|ft|in|lb|lbs|oz|mi|c|f)?$/u

const UNIT_AT_NUMBER = /^\d+\p{L}+$/u

/** For example "Convert 3 miles to km": numbers, units and words of calculation only. */
export function isCalculation(text: string): boolean {
  const words = text.toLowerCase().replaceAll(/['’]/gu, '').match(WORDS) ?? []
  if (words.length > WORDS_MAX) return false
  const numbers = words.filter((word) => NUMBER.test(word)).length
  const units = words.filter((word) => UNIT_WORDS.has(word) || UNIT_AT_NUMBER.test(word)).length
  const isCalculating = numbers >= 2 || (numbers === 1 && units >= 2)
  return (
    isCalculating &&
    words.every((word) => NUMBER.test(word) || UNIT_WORDS.has(word) || CALCULATION_WORDS.has(word))
  )
}

const QUESTION_CHARACTERS_MAX = 200
/** First-person words, which make a question personal. */
const FIRST_PERSON =
  /(?<![\p{L}\p{N}])(?:i|i'm|im|i've|i'd|my|me|mine|myself|we|our|us|ich|mich|mir|mein\p{L}*|wir|uns|unser\p{L}*|je|j|me|moi|mon|ma|mes|nous|notre|nos|yo|mi|mis|nosotr\p{L}*|nuestr\p{L}*|eu|meu|minha|meus|minhas|nosso|nossa)(?![\p{L}\p{N}])/iu

/** For example "How tall is Everest?": a short question without a personal reference. */
export function isBareQuestion(text: string): boolean {
  if (text.length > QUESTION_CHARACTERS_MAX || !/[?？]$/u.test(text)) return false
  return !/[.!。！\n]\s*\S/u.test(text) && !FIRST_PERSON.test(text) && !statesFirst(text)
}

const QUESTION_START =
  /^\W*(?:(?:and|so|but|hey|hi|ok|okay|und|y|et|e) )*(?:who|what|when|where|which|whose|why|how|do|does|did|am|is|are|was|were|can|could|shall|should|would|will|may|might|have|has|had|any|if|wer|wem|wen|was|wann|wo|woher|wohin|welche\p{L}?|warum|wieso|wie|ist|sind|kann|können|darf|soll\p{L}*|gibt|hat|haben|wird|quién|qué|cuál|cuándo|cuánt\p{L}*|dónde|cómo|es|hay|puede\p{L}*|qui|que|quand|où|quel\p{L}*|comment|pourquoi|combien|est|peut|y a|quem|quando|onde|qual|quais|como|há|pode)(?!\p{L})/iu
const STATEMENT_WORDS_MIN = 3

/** "The rent is 830 euros now, may the landlord do that?" says something before it asks. */
function statesFirst(text: string): boolean {
  const [first = '', ...rest] = text.split(/[,;:–—]\s/u)
  if (rest.length === 0 || QUESTION_START.test(first)) return false
  return (first.match(WORDS) ?? []).length >= STATEMENT_WORDS_MIN
}

const RECALL_QUESTION_CHARACTERS_MAX = 100
/** Questions that ask the user's own facts back, by language: an interrogative, a verb, then the first person. */
const RECALL_QUESTION = new RegExp(
  [
    "(?:what|which|where|who|whom|whose|when)(?:'?s (?:my|our)|(?: (?!(?:should|can|could|i|we|my|our) )\\p{L}+){1,3} (?:i|we|my|our))",
    '(?:do|did|have|am|was|were|are|is) (?:i|we|my|our)',
    '(?:was|wie heiß\\p{L}*|welche[rsmn]?|wo|wer|wem|wen|wann|wohin|woher)(?: (?!soll|kann)\\p{L}+){0,3} (?:ich|wir|mein\\p{L}*|unser\\p{L}*)',
    '(?:qué|cuál|cuáles|dónde|quién|cuándo)(?: (?!puedo|debo)\\p{L}+){0,4} (?:yo|mi|mis|nuestr\\p{L}*)',
    "(?:qui|où|quand|quel\\p{L}*|comment s'appelle)(?: \\p{L}+){0,2}[ -](?:je|mon|ma|mes|notre|nos)",
    '(?:que|qual|quais|onde|quem|quando)(?: \\p{L}+){0,4} (?:eu|meu|minha|meus|minhas|nosso|nossa)',
  ]
    .map((words) => `^[^\\p{L}]*(?:(?:and|so|und|y|et|e) )?(?:${words})(?![\\p{L}\\p{N}])`)
    .join('|'),
  'iu',
)

/** For example "Where do I live?": a question that asks back what was said, and says nothing itself. */
export function isRecallQuestion(text: string): boolean {
  if (text.length > RECALL_QUESTION_CHARACTERS_MAX || /[.!,;:。！，\n]\s*\S/u.test(text))
    return false
  return RECALL_QUESTION.test(text)
}
