/** Tells English from other languages by function words and letters, for models that read English only. */

const ENGLISH = toSet(
  'the and of to with for that this these those my your his her its our their what when where which who why how does did ' +
    'has have had are is were it she they we you at from by not be been being will would can could should about i',
)

/** Function words of German, Dutch, French, Spanish, Portuguese, Italian, Swedish and Polish that are no English words. */
const FOREIGN = toSet(
  'der das den dem des ein eine einen einem einer und oder aber ich du er sie wir ihr mein meine meinen meinem meiner dein ' +
    'deine sein seine unser unsere ihre ihren ist sind bin bist hatte habe haben nicht kein keine keinen mit auf aus bei ' +
    'nach seit von vom zu zum zur wo wer wie wann warum womit wovon welche welcher welches welchen wird wurde im ' +
    'het een mijn zijn niet voor naar waar wie waarom ik jij hij wij ' +
    'le la les une du au aux et est sont je tu il elle nous vous mon ma mes ton ta tes ses notre votre leur ne pas que qui ' +
    'quel quelle quels quelles dans sur avec sans chez depuis ' +
    'el los las una unos unas y yo mi mis su sus nuestro nuestra nuestros con sin desde donde cuando como cual quien por para ' +
    'del al es son soy eres hay muy ' +
    'os um uma uns umas meu minha meus minhas seu sua nosso nossa eu ele ela com sem onde quando qual quem ao aos dos das ' +
    'em na nos nas que lhe ' +
    'gli della di della nel nella sono sei mio mia suo sua perche dove cosa chi che ' +
    'jag och att det som inte var vad min mitt jest nie gdzie kiedy moj moja',
)

/** Longer texts are judged by their beginning. */
const CHARACTERS_MAX = 1_000
const WORD = /[\p{L}\p{M}]+/gu
const LATIN = /\p{Script=Latin}/u
const BEYOND_ASCII = /[^\p{ASCII}]/u
/** An English text may quote names and words in other scripts. */
const OTHER_SCRIPT_MAX = 1 / 3

/** Undecided texts, such as names, count as English. */
export function isEnglish(text: string): boolean {
  const words = text.slice(0, CHARACTERS_MAX).toLowerCase().match(WORD) ?? []
  let [letters, others, english, foreign] = [0, 0, 0, 0]
  for (const word of words) {
    letters += word.length
    if (ENGLISH.has(word)) english++
    else if (FOREIGN.has(word)) foreign++
    else if (BEYOND_ASCII.test(word)) {
      if (LATIN.test(word)) foreign++
      else others += word.length
    }
  }
  return others <= letters * OTHER_SCRIPT_MAX && foreign <= english
}

function toSet(words: string): ReadonlySet<string> {
  return new Set(words.split(' '))
}
