/**
 * Fields of words that exclude each other. A claim with a word of a field is supported only by that word: "piano" where
 * the user said "guitar" is another claim, while an unknown ordinary word may be a paraphrase.
 */

import { foldWord, stemWord } from './concepts.ts'

const FIELDS = `
dog cat horse rabbit hamster parrot bird fish turtle snake lizard cow pig goat sheep chicken duck puppy kitten beagle labrador poodle terrier retriever shepherd dachshund bulldog collie hund katze pferd kaninchen vogel schildkrote perro gato caballo conejo pajaro chien chat cheval lapin oiseau cachorro cao cavalo coelho chevre chevres mouton moutons vache vaches poule poules ziege ziegen schaf schafe kuh kuhe cabra cabras oveja ovejas vaca vacas 狗 猫 马 兔子 鸟 鱼 犬 うさぎ 鳥 魚
meat beef pork chicken lamb turkey ham bacon sausage fish salmon tuna cod egg eggs tofu shellfish shrimp prawns crab lobster nuts peanuts peanut almonds almond walnuts cashews hazelnuts sesame soy gluten wheat dairy milk cheese butter yoghurt yogurt lactose kiwi mango strawberries strawberry apples apple banana bananas oranges orange lemon grapes pineapple peach tomato tomatoes potato potatoes onion onions garlic mushrooms mushroom spinach broccoli carrots peas coriander cilantro olives pepper celery avocado rice pasta pizza burger sushi bread cake chocolate honey sugar salt fleisch fisch lachs eier milch kase nusse erdnusse erdnuss weizen soja brot kuchen schokolade zucker salz kartoffeln reis spinat pilze carne pollo cerdo pescado huevo huevos leche queso frutos secos cacahuetes pan arroz azucar chocolate viande poulet porc poisson oeufs lait fromage arachides noix pain riz sucre frango porco peixe ovos leite queijo amendoim pao arroz acucar 花生 海鲜 虾 鸡蛋 牛奶 牛肉 猪肉 鸡肉 坚果 大豆 小麦 芒果 香菜 肉 卵 牛乳 小麦 えび そば 大豆 ピーナッツ
coffee tea beer wine whisky whiskey vodka gin juice water soda cola rooibos matcha espresso kaffee tee bier wein saft wasser cafe te cerveza vino zumo agua the biere vin jus eau cha cerveja vinho suco agua 咖啡 茶 啤酒 葡萄酒 酒 コーヒー お茶 紅茶 ビール ワイン
guitar piano violin cello drums flute trumpet saxophone clarinet harp bass ukulele accordion gitarre klavier geige schlagzeug flote guitarra violin bateria flauta guitare violon batterie violao 吉他 钢琴 小提琴 鼓 ギター ピアノ バイオリン ドラム
football soccer tennis basketball volleyball badminton golf hockey rugby cricket swimming running cycling hiking climbing bouldering skiing snowboarding surfing sailing rowing boxing yoga pilates karate judo chess dancing gym fußball schwimmen laufen radfahren wandern klettern skifahren segeln boxen schach futbol natacion senderismo escalada esqui ajedrez natation randonnee escalade ski echecs futebol natacao corrida 足球 篮球 网球 羽毛球 游泳 跑步 瑜伽 サッカー 野球 テニス 水泳 ヨガ
teacher doctor nurse lawyer engineer developer programmer designer architect accountant dentist vet chef cook baker barista waiter waitress journalist writer editor photographer artist musician actor pilot driver mechanic electrician plumber carpenter farmer gardener scientist researcher professor student manager consultant analyst therapist psychologist pharmacist physiotherapist paramedic firefighter soldier translator librarian cashier salesperson realtor banker economist counselor midwife tailor hairdresser lehrer lehrerin arzt arztin krankenschwester pfleger anwalt anwaltin ingenieur entwickler architekt buchhalter zahnarzt koch backer journalist pilot mechaniker elektriker tischler gartner maurer medico enfermera abogado ingeniero arquitecto contador gerente director conductor cocinero periodista profesor medecin infirmier infirmiere avocat ingenieur architecte comptable cuisinier journaliste professeur enfermeiro advogado engenheiro arquiteto cozinheiro jornalista professora 医生 护士 律师 工程师 会计 设计师 老师 教师 记者 司机 厨师 医師 看護師 弁護士 デザイナー 教師
red blue green yellow black white brown grey gray purple pink orange silver gold beige rot blau grun gelb schwarz weiß braun grau lila rosa rojo azul verde amarillo negro blanco rouge bleu vert jaune noir blanc vermelho azul verde amarelo preto branco 红色 蓝色 绿色 黑色 白色 赤 青 緑 黒 白
left right upper lower front back links rechts izquierda derecha izquierdo derecho gauche droite esquerda direita esquerdo direito 左 右
knee back shoulder hip ankle wrist elbow neck head foot hand arm leg eye ear heart stomach liver kidney knie rucken schulter hufte knochel rodilla espalda hombro genou dos epaule joelho costas ombro 膝 背中 肩 膝盖 背
english spanish french german italian portuguese japanese chinese mandarin cantonese korean arabic farsi persian turkish russian polish dutch swedish danish norwegian finnish greek hindi urdu hebrew ukrainian czech hungarian romanian thai vietnamese englisch spanisch franzosisch deutsch italienisch portugiesisch japanisch chinesisch ingles espanol frances aleman italiano portugues japones chino anglais espagnol francais allemand italien portugais japonais alemao
car bike bicycle motorcycle scooter train tram bus subway metro plane boat ship ferry van truck fahrrad motorrad zug straßenbahn schiff coche bici moto tren barco voiture velo train bateau carro bicicleta trem barco 自行车 地铁 电车 バス 電車 自転車
python javascript typescript java kotlin rust go golang ruby php swift scala haskell elixir perl clojure postgres postgresql mysql mongodb sqlite redis oracle react vue angular svelte django flask rails laravel aws azure gcp linux windows macos ubuntu debian android ios vim emacs vscode figma photoshop notion slack jira linear trello asana excel
mother father son daughter brother sister wife husband grandmother grandfather aunt uncle cousin niece nephew partner girlfriend boyfriend friend colleague boss neighbor neighbour landlord mutter vater sohn tochter bruder schwester frau mann oma opa tante onkel madre padre hijo hija hermano hermana esposa marido mere pere fils fille frere soeur mari femme mae pai filho filha irmao irma 妈妈 爸爸 儿子 女儿 哥哥 弟弟 姐姐 妹妹 妻子 丈夫 母 父 息子 娘 兄 弟 姉 妹 妻 夫
morning afternoon evening night noon midnight morgens mittags nachmittags abends nachts mañana tarde noche matin soir nuit manha tarde noite 早上 下午 晚上 朝 昼 夜
spring summer autumn fall winter fruhling sommer herbst winter primavera verano otoño invierno printemps ete automne hiver verao outono inverno 春天 夏天 秋天 冬天 春 夏 秋 冬
always usually often sometimes rarely seldom immer meistens oft manchmal selten siempre normalmente veces raramente toujours souvent parfois rarement sempre geralmente vezes 总是 经常 有时 いつも よく たまに
daily weekly monthly yearly quarterly hourly biweekly täglich wochentlich monatlich jahrlich diario semanal mensual anual quotidien hebdomadaire mensuel annuel diario semanal mensal anual
married single divorced engaged widowed separated verheiratet ledig geschieden verlobt verwitwet casado casada soltero soltera divorciado divorciada marie mariee celibataire divorce divorcee solteiro solteira 结婚 单身 离婚 結婚 独身 離婚
vegan vegetarian pescatarian omnivore kosher halal keto vegetarier veganer vegetariano vegano vegetarien vegane 素食 纯素 ベジタリアン ヴィーガン
diabetes asthma migraine arthritis celiac coeliac hypertension cancer depression anxiety adhd epilepsy eczema hayfever endometriosis hypothyroidism anemia insomnia asthme migräne asma migraña enxaqueca 糖尿病 哮喘 喘息
more less fewer mehr weniger mas menos plus moins mais menos
buy sell rent lease bought sold rented kaufen verkaufen mieten comprar vender alquilar acheter vendre louer alugar
hot cold warm cool heiß kalt caliente frio chaud froid quente
new used old second-hand secondhand gebraucht neu nuevo usado neuf occasion novo
long short kurz largo corto longo curto
north south east west northern southern nord sud norte sur sul
near far close weit lejos loin longe
oven stove stovetop fridge freezer dishwasher dryer microwave
higher lower cheaper pricier faster slower better worse
with without
employer employee
landlord tenant
big small large tiny groß klein grande pequeño grand petit pequeno
quiet loud noisy ruhig laut tranquilo ruidoso calme bruyant
early late fruh spat temprano tarde tot tard cedo
first second third last
happy sad angry excited worried nervous afraid proud unhappy satisfied dissatisfied
kitchen bathroom bedroom garden balcony garage basement attic kuche bad schlafzimmer garten balkon cocina baño jardin cuisine jardin cozinha banheiro jardim
euros dollars pounds yen francs yuan euro dollar
window aisle middle fenster gang ventana pasillo fenetre couloir janela corredor
stocks bonds crypto shares funds
beginner intermediate advanced fluent native anfanger fortgeschritten fließend principiante avanzado fluido debutant courant iniciante fluente
accepted rejected declined approved denied cancelled canceled postponed confirmed
boy girl junge madchen niño niña garçon menino menina 男孩 女孩
`

const fieldsByWord = new Map<string, Set<number>>()
for (const [id, line] of FIELDS.trim().split('\n').entries()) {
  for (const word of line.split(' ')) {
    for (const form of new Set([foldWord(word), stemWord(foldWord(word))])) {
      const known = fieldsByWord.get(form)
      if (known === undefined) fieldsByWord.set(form, new Set([id]))
      else known.add(id)
    }
  }
}

const NONE: ReadonlySet<number> = new Set()

/** The fields of a folded word; empty for words that exclude no others. */
export function getFields(word: string): ReadonlySet<number> {
  return fieldsByWord.get(word) ?? fieldsByWord.get(stemWord(word)) ?? NONE
}
