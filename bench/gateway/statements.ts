/**
 * Statements as people make them about their lives and work, and questions about them. In real words, because vectors of
 * made-up ones all point the same way, and searching those is another task. The same in every run.
 */
import { seededRandom } from '../harness.ts'

const words = (text: string): readonly string[] => text.split(' ')

const SLOTS = {
  person: words(
    'Ada Boris Carmen Dmitri Elena Farid Greta Hiro Ines Jonas Kavya Liam Mara Nils Olga Pablo Quinn Rosa Samir Tove Uma Viktor Wanda Ximena Yusuf Zora',
  ),
  place: words(
    'Lisbon Oslo Kyoto Nairobi Lima Toronto Cairo Prague Austin Mumbai Hanoi Dublin Seoul Tbilisi Quito Perth Gdansk Marseille Havana Reykjavik',
  ),
  food: words(
    'lasagna ramen falafel pancakes curry sushi goulash paella dumplings salad risotto tacos chili porridge moussaka pho borscht waffles hummus brownies',
  ),
  hobby: words(
    'climbing pottery chess sailing gardening photography archery knitting astronomy fencing baking cycling painting diving birdwatching origami rowing dancing carpentry yoga',
  ),
  tool: words(
    'Postgres Kubernetes TypeScript Rust Terraform Figma Kafka Redis Grafana Excel Blender Photoshop Docker Jenkins Webpack Vim Notion Slack GraphQL Ansible',
  ),
  thing: words(
    'passport bicycle guitar telescope tent camera laptop violin umbrella sofa kettle drill backpack printer lamp helmet piano blender watch ladder',
  ),
  animal: words(
    'cat dog parrot hamster tortoise horse rabbit goldfish ferret canary goat lizard donkey duck snake hedgehog pony chicken sheep spider',
  ),
  subject: words(
    'budget roadmap contract migration interview deadline invoice outage release onboarding audit workshop survey merger newsletter prototype licence warranty lease insurance',
  ),
  ailment: words(
    'peanuts pollen penicillin shellfish dust latex gluten lactose wasps mould nickel strawberries aspirin feathers soy perfume sesame walnuts cats sunlight',
  ),
  time: words(
    'Monday Tuesday Wednesday Thursday Friday Saturday Sunday January February March April May June July August September October November December',
  ),
} as const
type Slot = keyof typeof SLOTS

/** Statements, and the questions that find them. */
const FORMS: readonly (readonly [string, string])[] = [
  ['{person} moved to {place} in {time} and goes {hobby} there.', 'Where does {person} live now?'],
  ['My {animal} is called {person} and eats {food}.', 'What is the name of my {animal}?'],
  ['{person} is allergic to {ailment}, so no {food} in {time}.', 'May {person} have {ailment}?'],
  ['We use {tool} for the {subject} since {time}.', 'Since when is {tool} used for the {subject}?'],
  ['I keep the {thing} at the office in {place}.', 'Where in {place} is the {thing}?'],
  ['{person} prefers {tool} for the {subject}.', 'What does {person} use for the {subject}?'],
  ['Dinner with {person} is {food}, every {time}.', 'What is for dinner with {person} on {time}?'],
  ['The {subject} with {person} was put off to {time}.', 'When is the {subject} with {person}?'],
  ['I bought a {thing} in {place} for my {hobby}.', 'What did I buy in {place} for {hobby}?'],
  ['{person} teaches {hobby} in {place} on {time}.', 'Who teaches {hobby} in {place}?'],
  ['The {animal} of {person} broke the {thing} in {time}.', 'Who broke the {thing} of {person}?'],
  ['Never send the {subject} to {person} before {time}.', 'May {person} see the {subject} yet?'],
]

export class Statements {
  readonly #random: () => number

  constructor(seed: number) {
    this.#random = seededRandom(seed)
  }

  next(): { readonly statement: string; readonly question: string } {
    const [statement, question] = this.#oneOf(FORMS)
    const filled = new Map<string, string>()
    const fill = (form: string) =>
      form.replace(/\{(\w+)\}/g, (_, slot: Slot) => {
        const word = filled.get(slot) ?? this.#oneOf<string>(SLOTS[slot])
        filled.set(slot, word)
        return word
      })
    return { statement: fill(statement), question: fill(question) }
  }

  #oneOf<Item>(items: readonly Item[]): Item {
    return items[Math.floor(this.#random() * items.length)] as Item // below 1, so there is one
  }
}
