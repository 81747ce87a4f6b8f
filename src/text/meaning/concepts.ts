/**
 * Concepts: words that state the same in a claim and in the user's own words, across seven languages. Only synonyms share
 * a concept. Words of one field that exclude each other, such as relatives or days, are concepts of their own.
 */

import { stem } from '../search/stemming.ts'

/** One concept per line, in any inflected form that a stem does not cover. */
const CONCEPTS = `
live lives lived living reside resides residence home based located settle settled inhabit wohnen wohnt wohne lebt lebe leben wohnhaft zuhause vive vivo vivimos vivir reside resido habita habite habites habiter vis vit vivre mora moro morar moramos 住 住在 居住 住ん 住む 暮らし 暮らす
move moved moves moving relocate relocated umgezogen gezogen zieht ziehe umzug mudar mude mudo mudado mudarme mudei mudou demenage demenager 搬 搬到 搬家 引っ越し 引っ越す
work works worked working job employed employer employee employment career arbeitet arbeite arbeiten gearbeitet beschaftigt angestellt trabaja trabajo trabajar trabaje trabalha trabalho trabalhar travaille travailler travail 工作 上班 働い 働く 勤め 勤務
profession occupation trade beruf beruflich profesion profissao metier 职业 職業 仕事
freelance freelancer freelancing freelances self-employed freiberuflich freiberufler selbststandig autonomo freelancer
leave leaves left quit quits resigned gekundigt kundigte verlassen renuncie renuncio dejo deje quitte quitter demissionne saiu deixou sai deixei 辞职 辞め
start starts started starting begin begins began begun beginnt begann angefangen gestartet empieza empece empezo comienza comenzo commence commencer comeca comecou comecei 开始 始め
finish finished finishes complete completed completes done ended beendet fertig abgeschlossen termine termino terminado fini termine terminei acabei 完成 終わ
own owns owned has have had having possess possesses got hat habe besitzt besitze tiene tengo tenemos posee a ai possede tem tenho temos possui 有 拥有 持っ いる ある 飼っ 飼う 饲养 养
eat eats ate eating consume consumes isst esse essen gegessen come como comer comemos mange manger manges comes 吃 食べ 食べる 食
drink drinks drank drinking trinkt trinke trinken bebe bebo beber boit bois boire bebemos 喝 飲 飲む 飲ん 飲み
cook cooks cooking cooked koche kocht kochen cocina cocinar cuisine cuisiner cozinha cozinhar 做饭 料理
bake bakes baking baked backe backt backen hornear pasteler cuire assar
like likes liked liking love loves loved loving enjoy enjoys enjoyed enjoying fan fond keen prefer prefers preferred preference favourite favorite mag mogen liebt liebe lieben gern gerne bevorzugt lieblings gusta gustan gusto encanta encantan prefiere prefiero aime aimes adore adores prefere gosta gosto gostam adora adoro prefiro favorito favorita 喜欢 爱 爱好 偏好 好き 大好き 好む 気に入
dislike dislikes disliked hate hates hated detest detests loathe loathes hasst hasse hassen odia odio odiar deteste detesta detesto odeia odeio 讨厌 嫌い 苦手 嫌う
want wants wanted wanting wish wishes wished would desire will mochte mochten wurde quiere quiero querer queremos veut veux voudrais voudrait quer quero gostaria 想 想要 希望 要 欲しい
plan plans planned planning intend intends intention going gonna plant plane geplant vorhat piensa planea planeo prevoit prevu compte planeja pretende 打算 计划 予定 つもり
try tries tried trying attempt versucht versuche intenta intento intentan essaie essaye essaient tenta tento 试 尝试
consider considers considering considered think thinks thinking contemplate contemplating uberlegt uberlege denkt pensando piensa pense pensa considera considere envisage reflechit 考虑 検討 考え
allergic allergy allergies allergen allergisch allergie allergien alergico alergica alergia allergique allergies alergias 过敏 アレルギー
intolerant intolerance intoleranz unvertraglichkeit intolerante intolerancia 不耐 不耐受 不耐症
avoid avoids avoided avoiding meidet vermeidet evita evito evite 避免 避け
celiac coeliac gluten-free zoliakie celiaco celiaca coeliaque
vegetarian vegetarisch vegetarier vegetarierin vegetariano vegetariana vegetarien vegetarienne 素食 ベジタリアン
vegan veganer veganerin vegan vegano vegana vegane 纯素 ヴィーガン
name names named called calls call goes heißt heisst heiße namens genannt llama llaman llamado nombre appelle appelles nomme prenom chama chama-se chamado nome 叫 名字 名叫 名前 という
speak speaks spoke speaking spricht spreche sprechen habla hablo hablan parle parles parlent fala falo falam 说 讲 話す 話し
learn learns learned learnt learning study studies studied studying student lernt lerne lernen studiert studiere studium student studentin aprende aprendo estudia estudio estudiante apprend apprends etudie etudiant etudiante etudier aprende estuda estudo estudante 学 学习 在学 学生 勉強 習っ 学ん
teach teaches taught teaching teacher unterrichtet unterrichte unterricht lehrer lehrerin ensena enseno profesor profesora maestro maestra enseigne professeur professeure ensina professor professora 教 教师 老师 教師 先生 教え
use uses used using utilize utilizes nutzt nutze verwendet verwende benutzt benutze usa uso utiliza utilise utilisent utilizo 用 使用 使っ 使い 使う
drive drives drove driving fahrt fahre fahren conduce conduzco conducir conduit conduis conduire roule dirige dirijo conduz dirigir 开车 驾驶 運転
car cars automobile vehicle auto autos wagen coche carro voiture 车 汽车 车子 車
bike bikes bicycle bicycles cycle cycles cycling cyclist rad fahrrad radfahren bici bicicleta velo 自行车 自転車
run runs ran running jog jogs jogging laufe lauft laufen joggt jogge corre corro correr cours court courir courent corro 跑步 走る 走っ ランニング
travel travels travelled traveled traveling travelling trip trips journey going go goes visit visits visiting visited reist reise reisen fahrt fliegt viaja viajo viaje viajar voy va visita visitar voyage voyager pars part ir vai vou visitar viagem 旅行 去 访问 旅行 行く 行き
stay stays stayed staying hotel accommodation ubernachtet ubernachten queda quedar reste logement fica ficar
flight flights fly flies flying flew flug fliegt vuelo volar vol avion voo 航班 フライト 便
buy buys bought buying purchase purchases purchased acquire acquired kauft kaufe kaufen gekauft compra compro comprar comprado achete acheter comprei compraram 买 购买 買い 買う 買っ
sell sells sold selling verkauft verkaufe verkaufen vende vendo vendi vendido vend vendu vendre 卖 売
rent rents rented renting lease leases miete mietet mieten alquila alquilo alquiler loue louer loyer aluga alugo aluguel renda 租 房租 家賃 借り
pay pays paid paying cost costs price spend spends zahlt zahle bezahlt kostet kosten preis paga pago pagar cuesta precio paie paye coute prix paga custa 付 花 价格 払 値段
budget haushalt presupuesto orcamento 预算 予算
salary wage wages pay earn earns earning gehalt verdient verdiene sueldo salario gana gano salaire gagne ganha ganho 工资 月薪 给料 給料 年収
flat flats apartment apartments wohnung wohnungen piso apartamento departamento appartement 公寓 アパート マンション
house houses haus hauser casa maison 房子 家
partner partners significant partnerin pareja compagnon compagne parceiro parceira companheiro 伴侣 パートナー
wife wives spouse partner frau ehefrau esposa mujer femme epouse mulher 妻子 老婆 太太 妻 奥さん
husband husbands spouse partner mann ehemann esposo marido mari epoux 丈夫 老公 夫 主人
girlfriend partner freundin novia copine namorada 女朋友 彼女
boyfriend partner freund novio copain namorado 男朋友 彼氏
married marry marries marriage wedding wed verheiratet heirat hochzeit geheiratet casado casada casarse boda marie mariee mariage casou casamento 结婚 已婚 結婚
divorced divorce divorces geschieden scheidung divorciado divorciada divorcio divorcee 离婚 離婚
split separated separate breakup broke getrennt trennung separado separada separe separee 分手 別れ
engaged engagement verlobt prometido fiance fiancee noivo noiva 订婚 婚約
mother mothers mum mom mama mutter madre mamma maman mere mae 妈妈 母亲 母 お母さん
father fathers dad papa vater padre pere pai 爸爸 父亲 父 お父さん
parents parent eltern padres parents pais 父母 両親
son sons child kid boy sohn sohne hijo fils filho 儿子 息子
daughter daughters child kid girl tochter tochtern hija fille filha 女儿 娘
child children kid kids yr toddler teenager youngest oldest eldest kind kinder hijos enfants enfant filhos crianca 孩子 子供 子ども
baby babies newborn saugling bebe 宝宝 赤ちゃん
brother brothers sibling bruder hermano frere irmao 哥哥 弟弟 兄弟 兄 弟
sister sisters sibling schwester schwestern hermana soeur irma 姐姐 妹妹 姐妹 姉 妹
grandmother grandma granny oma großmutter abuela mamie avo 奶奶 外婆 祖母
grandfather grandpa opa großvater abuelo papi 爷爷 外公 祖父
aunt tante tia 姑姑 阿姨 叔母
uncle onkel tio oncle 叔叔 舅舅 叔父
cousin cousine primo prima cousins 表哥 いとこ
friend friends buddy freund freunde freundin amigo amiga ami amie 朋友 友達 友人
colleague colleagues coworker coworkers teammate kollege kollegin kollegen companero companera collegue colega 同事 同僚
boss manager supervisor chef chefin vorgesetzter jefe jefa patron responsable chefe 老板 上司
neighbour neighbor neighbours neighbors nachbar nachbarin vecino vecina voisin voisine vizinho vizinha 邻居 隣人
landlord landlady vermieter vermieterin casero proprietaire senhorio 房东 大家
dog dogs pet puppy pup hund hunde welpe perro perra chien chienne cachorro cao 狗 小狗 犬
cat cats pet kitten katze katzen kater gato gata chat chatte gatos 猫 小猫
pet pets haustier mascota animal 宠物 ペット
born birth birthday turns turn geboren geburtstag nacio naci nacimiento cumpleaños cumpleanos ne nee anniversaire nasceu nasci aniversario 出生 生日 生まれ 誕生日
age aged old years year-old turn turns turned turning becomes become alt jahre jahr wird wurde anos años cumple ans an fete fetes fez faz completa 岁 今年 歳 才
die died dies dead death passed gestorben tot murio muerto mort decede morreu 去世 死 亡くな
sick ill illness disease diagnosed diagnosis condition suffer suffers krank krankheit diagnose enfermo enfermedad malade maladie doente doenca 生病 病 病気
diabetes diabetic diabetiker diabetikerin diabetico diabetica diabetique diabete 糖尿病
pain pains painful hurt hurts hurting ache aches schmerz schmerzen weh duele dolor mal douleur doi dor 疼 痛 痛い
doctor doctors doc physician gp arzt arztin medico medica medecin 医生 医者 医師
dentist zahnarzt zahnarztin dentista dentiste 牙医 歯医者
vet veterinarian tierarzt tierarztin veterinario veterinaria veterinaire 兽医 獣医
nurse nurses krankenpfleger krankenschwester enfermera enfermero infirmiere infirmier enfermeira 护士 看護師
medication medicine meds medicament medikament medikamente medicamento medicacion remedio 药 薬
appointment appointments termin termine cita rendez-vous consulta 预约 予約
meeting meetings meet meets besprechung reunion reuniao 会议 开会 会議
schedule scheduled reschedule rescheduled postponed postpone delay delayed slipped slip pushed moved shifted verschoben verlegt aplazado pasa passar reporte adiada 改 推迟 延期 変更
deadline due abgabe frist plazo echeance prazo 截止 締め切り
launch launches launched release releases released veroffentlichung lanzamiento lancement lancamento 发布 上线 リリース
cancel cancelled canceled cancels abgesagt storniert cancelado cancelada annule annulee 取消 キャンセル
book booked booking reserve reserved reservation rebooked gebucht reserviert reservado reserva reserve 预订 予約
team teams crew equipo equipe 团队 チーム
company companies firm business startup firma unternehmen empresa compania entreprise societe 公司 会社
client clients customer customers kunde kunden cliente clientes clients 客户 顧客
project projects projekt projekte proyecto projet projeto 项目 プロジェクト
decide decides decided decision choose chose chosen entschieden entscheidung beschlossen decidido decidio decision decide decidiu escolheu 决定 選択 決め
prepare prepares prepared preparing preparation train trains trained training vorbereitung bereitet prepara preparando entrene entraine treina treinando 准备 训练 準備
remind reminder remember remembers erinnert recordar rappeler lembrar
help helps helped helping assist assists assisted hilft geholfen hilfe ayuda ayudo ayudar aide aider ajuda ajudar ajudou 帮 帮助 手伝
password passwords passphrase passwort kennwort contraseña contrasena mot-de-passe senha 密码 パスワード
wifi wi-fi wlan network 无线 无线网
school schools schule schulen escuela colegio ecole escola 学校
enrolment enrollment enrolled einschulung
university college uni universitat universidad universite universidade faculdade 大学
engineer engineers engineering ingenieur ingenieurin ingeniero ingeniera ingenieure engenheiro engenheira 工程师 エンジニア
developer developers dev devs programmer programmers coder entwickler entwicklerin programmierer desarrollador programador developpeur developpeuse desenvolvedor programadora 程序员 开发 プログラマ
software code coding codes programming program programs programmes
tech technical technology
tell tells told telling inform informs informed
maths math mathematics mathe matematicas mathematiques matematica
msc master masters master's mba
free gratis kostenlos gratuit gratuito
scared afraid fear fears frightened
motorbike motorbikes motorcycle motorcycles moto
speak talk talks conversation conversations chat
resign resigned quit quits notice kundigung
save saves saving savings put-aside
near close next nearby by beside proche cerca perto nahe
charge charges handle handles handling responsible zustandig responsable encargado responsavel mache kummere
designer design designing designs gestalter
accountant accounting buchhalter buchhalterin contable contador contadora comptable contabilista 会计 会計
lawyer attorney solicitor anwalt anwaltin jurist abogado abogada avocat avocate advogado advogada 律师 弁護士
manage manages managed leads lead run runs running head heads boss leitet fuhrt dirige gestiona gerencia gere lidera 管理 経営
shop store laden geschaft tienda boutique magasin loja 店 商店
bakery backerei panaderia boulangerie padaria 面包店 パン屋
restaurant cafe lokal restaurante
hobby hobbies pastime free-time freizeit aficion loisir 爱好 趣味
play plays played playing spielt spiele spielen juega toca juego toco joue jouer joga jogo toco 打 玩 弹 弾 遊
sport sports exercise exercises workout gym training fitness deporte ejercicio entrenamiento exercicio 运动 スポーツ
swim swims swimming swam schwimmt schwimme schwimmen nada nadar nage nager nado 游泳 泳
read reads reading book books liest lese lesen buch bucher lee leo leer libro libros lit lire livre livres livro livros 读书 看书 読書 読む 本
music musik musica musique 音乐 音楽
film films movie movies kino pelicula cine cinema filme 电影 映画
game games gaming gamer spiel spiele juego jeu jogo 游戏 ゲーム
smoke smokes smoked smoking smoker raucht rauche rauchen fuma fumo fumar fume fumer 抽烟 吸烟 タバコ 煙草
celebrate celebrates celebrated celebration party feiert feier feste celebra fiesta celebre comemora 庆祝 お祝い
roommate roommates flatmate flatmates housemate mitbewohner compañero-de-piso colocataire colega-de-quarto 室友 ルームメイト
window fenster ventana fenetre janela 窗
seat sitz platz asiento siege assento
present presents presented presenting presentation prasentiert vorstellung presenta presentar apresenta 展示 発表
answer answers answered reply replies response responses respond antwort antworten respuesta respuestas reponse reponses resposta respostas 回答 回复
short brief concise kurz knapp breve corto court bref curto 简短 短く
emoji emojis emoticon
attract attracted attracts appeal appeals appealing
expect expects expecting expected pregnant pregnancy erwartet schwanger espera embarazada attend enceinte gravida 怀孕 妊娠
repair repairs repaired fix fixed fixing reparatur repariert reparieren reparacion reparar reparation reparer reparo conserto 修理
pick-up collected collect collects abholung abgeholt abholen abhole recoger recogida recuperer buscar
dessert sweets sweet süßigkeiten dulces sucreries doces 甜 甜食 甘い
tall height high groß grosse alto altura taille 身高 身長
weight weighs weigh gewicht wiegt peso pesa poids pese 体重
remote remotely home-office homeoffice teletrabajo remoto remota teletravail 远程 リモート
retired retire retirement pension pensioner rente rentner rentnerin ruhestand jubilado jubilada retraite aposentado aposentada 退休 引退
single unmarried ledig soltero soltera celibataire solteiro solteira 单身 独身
dream dreams dreaming traum traumt sueño sueña reve sonho sonha 梦想 夢
move-out moved-out ausgezogen
month monthly monat monatlich mes mensual mois mensuel mensal 每月 月
week weekly woche wochentlich semana semanal semaine hebdomadaire 每周 週
day daily days tag taglich dia diario jour quotidien diariamente 每天 天 毎日
year yearly annually annual jahr jahrlich ano anual annee annuel 每年 年 毎年
morning mornings morgens mañana matin manha 早上 朝
evening evenings abends abend noche tarde soir noite 晚上 夜
both beide beiden ambos ambas tous-les-deux 两 両方
twice two-times zweimal
stop stops stopped stopping gestoppt aufgehort deja arrete arreter parou parei 停止 戒 やめ
write writes wrote written writing schreibt schreibe geschrieben escribe escribo ecrit ecris escreve escrevo 写 書
siblings sibling geschwister hermanos freres irmaos 兄弟姐妹
severe severely super very badly strong strongly serious seriously terrible
want prefer would like likes love
native mother-tongue tongue muttersprache materna maternelle 母语 母語
sleep sleeps slept sleeping schlaft schlafe schlafen duerme duermo dormir dort dors dorme durmo 睡 睡觉 寝 眠
vegetables vegetable veggies veggie veg gemuse verduras legumes legume 蔬菜 野菜
take takes took taking nimmt nehme toma tomo tomar prend prends prendre 服用
afford
raise raised raises increase increased increases erhoht erhohung subio subir augmente augmentation aumentou
adopt adopted adopts
wear wears glasses
vacation vacations holiday holidays urlaub ferien vacaciones vacances ferias 假期 休暇
food meal meals dish dishes diet essen gericht comida plato dieta nourriture plat repas regime refeicao prato 食物 饮食 料理 食事
dairy milk milch milchprodukte lacteos leche laitages lait leite laticinios 牛奶 乳制品 牛乳 乳製品
lactose laktose lactosa
nut nuts nusse frutos-secos noix nozes 坚果 ナッツ
shellfish seafood meeresfruchte mariscos crustaces marisco 海鲜 甲殻類
shrimp shrimps prawn prawns garnelen gambas crevettes camarao 虾 エビ
`

/** What words of the user imply: `wife husband > married`. */
const IMPLICATIONS = `
wife husband spouse anniversary married mari esposa esposo marido mujer femme ehefrau ehemann > married marry marriage
roommate flatmate housemate mitbewohner > share shares apartment flat live lives
fiance fiancee noivo noiva prometido prometida verlobte verlobter > engaged
twins twin triplets son daughter kids kid children child toddler baby zwillinge > child children parent
dead died grave inherited inherit widow widower > died die passed
pregnant > expecting baby pregnancy
adopted adopt bought buy got inherited > own owns has
sold > sell
notice > resign resigned quit
broken died dead kaputt > broke order repair
ex > former partner divorced
studied studying degree > university attended student
kilos kilo kg > weighs weigh weight
car > drives drive
rent > pay pays
parent > kids children child
drummer > drums drum play
fish meat > vegetarian
first-time > first
child > parent
elevator lift > elevator lift
captions subtitles > captions subtitles
graduation > graduating graduate
must need needs > must need
broke skint > money
stroke > stroke
moved moving relocated umgezogen mude mudei demenage > live lives living
running marathon > run runs runner
skiing ski > skis skier
landlord landlady rent lease > rents tenant
manager boss > manager boss supervisor
hate hates dread dreads > dislike dislikes
intolerant intolerance > avoid
gym > exercise workout
salary wage paid earn > income
remote homeoffice > remotely home
divorced divorce > ex former
vegetarian vegan > diet
`

/** Verbs that state a relation: found elsewhere than beside their object, they support nothing. */
const RELATIONAL = new Set(
  'live move work leave start finish own eat drink cook bake like dislike want try speak learn teach use drive run stay buy sell rent pay play swim read smoke avoid take sleep raise manage'.split(
    ' ',
  ),
)
const relationalConcepts = new Set<number>()

const bySpelling = new Map<string, Set<number>>()
for (const [id, line] of CONCEPTS.trim().split('\n').entries()) {
  if (RELATIONAL.has(line.split(' ')[0] ?? '')) relationalConcepts.add(id)
  for (const word of line.split(' ')) {
    for (const form of new Set([foldWord(word), stemWord(foldWord(word))])) {
      const known = bySpelling.get(form)
      if (known === undefined) bySpelling.set(form, new Set([id]))
      else known.add(id)
    }
  }
}

const implied = new Map<string, Set<string>>()
for (const line of IMPLICATIONS.trim().split('\n')) {
  const [causes = '', effects = ''] = line.split(' > ')
  for (const cause of causes.split(' ')) {
    const known = implied.get(stemWord(foldWord(cause))) ?? new Set()
    for (const effect of effects.split(' ')) known.add(stemWord(foldWord(effect)))
    implied.set(stemWord(foldWord(cause)), known)
  }
}

/** Whether the user's word implies a word of a claim: "my wife" that they are married. */
export function implies(
  own: { readonly stem: string },
  claimed: { readonly stem: string },
): boolean {
  return implied.get(own.stem)?.has(claimed.stem) === true
}

const NONE: ReadonlySet<number> = new Set()

/** The concepts of a folded word. */
export function getConcepts(word: string): ReadonlySet<number> {
  return bySpelling.get(word) ?? bySpelling.get(stemWord(word)) ?? NONE
}

/** Whether a word is a verb such as "likes" or "lives". */
export function isRelational(concepts: ReadonlySet<number>): boolean {
  return concepts.size > 0 && [...concepts].every((id) => relationalConcepts.has(id))
}

/** Concept words written in Chinese or Japanese, which are found inside of unspaced text. */
export const UNSPACED_CONCEPT_WORDS: readonly string[] = [...bySpelling.keys()]
  .filter((word) => /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/u.test(word))
  .sort((a, b) => b.length - a.length)

/** Lower case without accents and possessives. */
export function foldWord(word: string): string {
  return word
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[’‘`´]/gu, "'")
    .replace(/'s$|'$|^[ldjnmtsc]'(?=\p{L})|^qu'/gu, '')
    .normalize('NFD')
    .replace(/(?<=\p{Script=Latin})\p{M}+/gu, '')
    .normalize('NFC')
    .replace(/ß/gu, 'ss')
}

export function stemWord(word: string): string {
  return /^[a-z]{3,}$/u.test(word) ? stem(word) : word
}
