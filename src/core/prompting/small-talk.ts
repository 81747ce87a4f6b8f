/** Turns that say nothing that could be remembered: politeness, and questions about the world. */
import { STOP_WORDS } from '../stopwords.ts'

const WORDS_MAX = 16
const WORDS = /[\p{L}\p{N}][\p{L}\p{N}\p{M}]*/gu

const POLITE: ReadonlySet<string> = new Set(
  (
    'hi hello hey yo greetings morning afternoon evening night bye goodbye cheers thanks thank thx ty welcome please sorry ' +
    'ok okay sure yes yeah yep no nope great good nice glad happy pleased lovely awesome wonderful perfect excellent amazing ' +
    'fantastic cool sounds hear meet meeting know let lets help helps helped assist assistance need else anything question ' +
    'questions free feel ask course problem problems worries pleasure enjoy luck care day weekend see soon later today got ' +
    'it right exactly absolutely certainly definitely indeed interesting wow really much very so well done fun im ill ive ' +
    'youre thats its dont cant lot always works work now funny lol haha talk tomorrow again say helpful go going come on up i me my we us our you your to if is are am be the a an and or for of in on at with ' +
    'can could will would do does did this that what how any there here just not as have has ' +
    'hallo guten tag morgen abend tschuss tschüss danke dankeschön bitte gern gerne geschehen klar super prima toll schön ' +
    'freut mich kennenzulernen verstanden alles ja nein natürlich viel spaß erfolg glück entschuldigung bis bald später helfen frage fragen ' +
    'bonjour salut merci beaucoup bonsoir revoir plaisir enchanté accord parfait super bien oui non bienvenue aider ' +
    'hola gracias muchas buenos buenas días tardes noches adiós gusto encantado encantada vale perfecto claro genial nada ayudar ' +
    'olá oi obrigado obrigada tchau bom boa dia tarde noite prazer claro perfeito ótimo ajudar'
  ).split(' '),
)

/** "Great to meet you! Let me know if you need anything else." */
export function isSmallTalk(text: string): boolean {
  const words = text.toLowerCase().replaceAll(/['’]/gu, '').match(WORDS) ?? []
  if (words.length > WORDS_MAX) return false
  return words.every((word) => POLITE.has(word) || STOP_WORDS.has(word))
}

const QUESTION_CHARACTERS_MAX = 200
/** In questions that tell something of the person who asks. */
const PERSONAL =
  /(?<![\p{L}\p{N}])(?:i|i'm|im|i've|i'd|my|me|mine|myself|we|our|us|ich|mich|mir|mein\p{L}*|wir|uns|unser\p{L}*|je|j|me|moi|mon|ma|mes|nous|notre|nos|yo|mi|mis|nosotr\p{L}*|nuestr\p{L}*|eu|meu|minha|meus|minhas|nosso|nossa)(?![\p{L}\p{N}])/iu

/** "How tall is Everest?": one short question that says nothing about who asks. */
export function isBareQuestion(text: string): boolean {
  if (text.length > QUESTION_CHARACTERS_MAX || !/[?？]$/u.test(text)) return false
  return !/[.!。！\n]\s*\S/u.test(text) && !PERSONAL.test(text)
}
