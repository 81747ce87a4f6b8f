/**
 * Made-up everyday talk: what people say about themselves, most often after the speaker's name, and questions about
 * them. It teaches how names, times and things weigh against each other, which dictionaries don't. The things come from
 * the dictionary, so that no list of topics favours one kind of life.
 */
import { pick } from './random.mjs'

const NAMES = `James Mary Robert Patricia John Jennifer Michael Linda David Elizabeth William Barbara Richard Susan Joseph
  Jessica Thomas Karen Charles Sarah Daniel Lisa Matthew Nancy Anthony Betty Mark Sandra Steven Ashley Paul Emily Andrew
  Kimberly Joshua Margaret Kenneth Donna Kevin Michelle Brian Carol George Amanda Timothy Melissa Ronald Deborah Jason
  Stephanie Edward Rebecca Jeffrey Laura Ryan Helen Jacob Sharon Gary Cynthia Nicholas Kathleen Eric Amy Stephen Anna
  Larry Ruth Justin Brenda Scott Pamela Brandon Nicole Benjamin Katherine Samuel Virginia Gregory Catherine Alexander
  Christine Patrick Samantha Frank Janet Raymond Emma Jack Rachel Dennis Maria Jerry Heather Tyler Diane Aaron Julie
  Jose Joyce Adam Victoria Henry Kelly Nathan Christina Douglas Lauren Peter Evelyn Kyle Olivia Walter Sophia Ethan
  Grace Alice Keith Julia Hannah Roger Ali Fatima Ahmed Priya Wei Mei Carlos Elena Ivan Olga Pierre Marie Hans Greta
  Luca Omar Leila Tom Sam Max Leo Ben Kate Jane Lucy Ella Mike Joe Nick Chris Matt Alex`
const CLOSE = `my mother|my father|my sister|my brother|my wife|my husband|my daughter|my son|my grandmother|my uncle|my aunt
  |my cousin|a friend|my neighbour|my boss|my colleague|my parents|my children|my doctor|a customer`
const TIMES = `yesterday|today|tomorrow|last week|last month|last year|last night|on Monday|on Tuesday|on Friday|on Sunday
  |in January|in April|in July|in September|in November|in 2018|in 2021|in 2024|on 3 March|on 21 October|this morning
  |next week|next year|three days ago|six months ago|every day|once a week|recently|soon|at noon|in the evening`
const STATEMENTS = `I went to {place} with {close} {time}.|I bought a {thing} {time}.|{close} gave me a {thing}.
  |I like {food}.|I don't like {food}.|I prefer {food} to {food}.|I am allergic to {food}.|We had {food} with {close} {time}.
  |I have a {animal} named {name}.|{close} has a {animal}.|I saw a {animal} in {place} {time}.|I work as a {person}.
  |{close} is a {person} in {place}.|I used to be a {person}.|I want to become a {person}.|I live in {place}.
  |We moved from {place} to {place} {time}.|I was born in {place}.|I have {state}, says the doctor.|{close} suffers from {state}.
  |I started {act} {time}.|I am learning about {act}.|{close} and I talked about {act} {time}.|I am good at {act}.
  |The {act} begins {time}.|I felt {feeling} because of the {act}.|My {thing} is {adjective}.|I lost my {thing} in {place}.
  |The {thing} broke {time}, I need a new {thing}.|Please remind me of the {act} {time}.|I met {name} {time}.
  |{name} is {close}.|Thank you, {name}.|Hello {name}, how are you?|What do you think about {act}?|How was the {act}, {name}?
  |Did you see the {thing}?|I read a {adjective} book about {idea}.|We discussed {idea} at work {time}.|I believe in {idea}.
  |Here is a picture of a {adjective} {thing}.|There is a {plant} in my garden.|My favourite {thing} is {adjective}.
  |I wrote a {idea} for {close}.|I plan to sell the {thing} {time}.|I am going to {place} {time}.|I need {thing} and {food}.
  |The meeting about the {idea} was moved to {time}.|I keep the {thing} next to the {thing}.|I paid {number} dollars for it.`
const QUESTIONS = `When did {name} go to {place}?|Where did {name} go {time}?|What did {name} buy {time}?|Who gave {name} the {thing}?
  |What food does {name} like?|What is {name} allergic to?|Where does {name} live?|Where was {name} born?|What is {name}'s job?
  |What animals does {name} have?|What is the name of {name}'s {animal}?|When did {name} start {act}?|How did {name} feel {time}?
  |What did {name} say about {act}?|What does {name} think about {idea}?|What happened to {name}'s {thing}?|When is the {act}?
  |Who is {name}?|What is {name}'s favourite {thing}?|How many {animal}s does {name} have?|What illness does {name} have?
  |Why did {name} move to {place}?|Which {thing} did {name} mention?|What did {name} read?|What is {name} good at?
  |What did I say about {idea}?|Where is my {thing}?|When is my {act}?|What should I buy?|How much did the {thing} cost?
  |Who did {name} meet {time}?|What does {name} plan to do {time}?|What did {name} do {time}?|Is {name} a {person}?`
const NUMBERS = 'two|three|four|five|six|eight|ten|15|20|40|60|100|250'

const fixed = {
  name: NAMES.split(/\s+/),
  close: split(CLOSE),
  time: split(TIMES),
  number: split(NUMBERS),
}
const statements = split(STATEMENTS)
const questions = split(QUESTIONS)

/** One to three sentences that somebody says, or a question. `words` has a list for each slot that isn't fixed. */
export function makeTalk(random, words) {
  const slots = { ...words, ...fixed }
  const fill = (template) =>
    capitalised(template.replace(/\{(\w+)\}/g, (_, slot) => pick(random, slots[slot])))
  if (random() < 0.3) return fill(pick(random, questions))
  const count = 1 + Math.floor(random() * random() * 3.5)
  const text = Array.from({ length: count }, () => fill(pick(random, statements))).join(' ')
  return random() < 0.7 ? withSpeaker(random, text) : text
}

export function withSpeaker(random, text) {
  return `${pick(random, fixed.name)}: ${text}`
}

function split(text) {
  return text.split('|').map((part) => part.replace(/\s+/g, ' ').trim())
}

function capitalised(text) {
  return text.charAt(0).toUpperCase() + text.slice(1)
}
