/**
 * The multilingual data set: personal facts in seven languages, and questions that share no significant word with the
 * answer, one group per language. The first table was written before the model was chosen and was measured while its
 * parameters were; the second one was only measured afterwards.
 */
import type { EvalDocument, EvalQuery, EvalSet } from './datasets.ts'

/** Per language, a fact and its question per line. */
const DEVELOPMENT: Readonly<Record<string, string>> = {
  de: `
    Seit dem Frühjahr wohne ich in Hamburg.|Wo ist er zu Hause?
    Von Erdnüssen bekomme ich sofort Atemnot.|Welche Lebensmittel muss man für ihn meiden?
    Ich arbeite als Krankenschwester auf der Intensivstation.|Womit verdient sie ihr Geld?
    Unser Hund heißt Bruno und ist ein Dackel.|Welches Haustier gibt es in der Familie?
    Jeden Samstag gehe ich in die Kletterhalle.|Welchen Sport treibt sie am Wochenende?
    Ich fahre einen alten roten Volvo.|Was für ein Auto besitzt er?
    Meine Schwester heiratet im Juni in Florenz.|Wann ist die Hochzeit?
    Nach zwölf Uhr trinke ich keinen Kaffee mehr.|Ab wann verzichtet er auf Koffein?
    Seit einem Jahr nehme ich Geigenunterricht.|Welches Instrument lernt sie?
    Meine Chefin ist Frau Lindner.|Wer ist seine Vorgesetzte?
    Mein Reisepass läuft im August ab.|Welches Dokument muss bald erneuert werden?
    In Flugzeugen bekomme ich Panik.|Wovor fürchtet er sich?
    Abends lese ich am liebsten Krimis.|Welche Bücher mag sie?
    Morgens nehme ich eine Tablette gegen Bluthochdruck.|Welche Medikamente braucht er?
    Beim Skifahren habe ich mir den Arm gebrochen.|Welche Verletzung hatte er?
    Ich bin 1988 geboren.|Wie alt ist sie?
    Fleisch esse ich schon lange nicht mehr.|Ernährt er sich vegetarisch?
    Die Miete beträgt neunhundert Euro im Monat.|Was kostet ihre Wohnung?
    Den Zitronenkuchen backe ich nach dem Rezept meiner Oma.|Welche Süßspeise macht er selbst?
    Auf meinem Laptop läuft Linux.|Welches Betriebssystem benutzt sie?
    Irgendwann möchte ich eine kleine Bäckerei eröffnen.|Wovon träumt er beruflich?
    Wir haben uns letztes Jahr scheiden lassen.|Ist sie noch verheiratet?
    Im Juli nehmen wir den Nachtzug nach Wien.|Wohin geht die Urlaubsreise?
    Unser Sohn schläft nur bei eingeschaltetem Licht ein.|Was braucht das Kind in der Nacht?
  `,
  es: `
    Desde la primavera vivo en Sevilla.|¿Dónde está su casa?
    Si como cacahuetes me quedo sin aire.|¿Qué alimento le provoca alergia?
    Trabajo de enfermera en cuidados intensivos.|¿A qué se dedica?
    Nuestro perro se llama Bruno y es un salchicha.|¿Qué mascota tienen?
    Todos los sábados voy a escalar.|¿Qué deporte practica el fin de semana?
    Conduzco un viejo Volvo rojo.|¿Qué coche posee?
    Mi hermana se casa en junio en Florencia.|¿Cuándo es la boda?
    Después de mediodía no tomo café.|¿A partir de qué hora evita la cafeína?
    Llevo un año con clases de violín.|¿Qué instrumento está aprendiendo?
    Mi jefa es la señora Lindner.|¿Quién es su superior?
    Mi pasaporte caduca en agosto.|¿Qué documento hay que renovar pronto?
    En los aviones me entra el pánico.|¿De qué tiene miedo?
    Por la noche leo sobre todo novelas policíacas.|¿Qué libros le gustan?
    Por la mañana tomo una pastilla para la tensión.|¿Qué medicamentos necesita?
    Me rompí el brazo esquiando.|¿Qué lesión sufrió?
    Nací en 1988.|¿Qué edad tiene?
    Hace tiempo que no como carne.|¿Es vegetariano?
    El alquiler son novecientos euros al mes.|¿Cuánto cuesta su piso?
    Hago la tarta de limón con la receta de mi abuela.|¿Qué postre prepara él mismo?
    Mi portátil funciona con Linux.|¿Qué sistema operativo usa?
    Algún día quiero abrir una pequeña panadería.|¿Cuál es su sueño profesional?
    Nos divorciamos el año pasado.|¿Sigue casada?
    En julio cogemos el tren nocturno a Viena.|¿Adónde van de vacaciones?
    Nuestro hijo solo se duerme con la luz encendida.|¿Qué necesita el niño de noche?
  `,
  fr: `
    Depuis le printemps, j'habite à Lyon.|Où se trouve son domicile ?
    Si je mange des cacahuètes, je n'arrive plus à respirer.|Quel aliment lui donne une allergie ?
    Je suis infirmière en réanimation.|Quel est son métier ?
    Notre chien s'appelle Bruno, c'est un teckel.|Quel animal de compagnie ont-ils ?
    Tous les samedis, je vais grimper.|Quel sport pratique-t-elle le week-end ?
    Je conduis une vieille Volvo rouge.|Quelle voiture possède-t-il ?
    Ma sœur se marie en juin à Florence.|Quand a lieu la noce ?
    Après midi, je ne bois plus de café.|À partir de quelle heure évite-t-il la caféine ?
    Je prends des cours de violon depuis un an.|Quel instrument apprend-elle ?
    Ma chef est madame Lindner.|Qui est sa supérieure ?
    Mon passeport expire en août.|Quel document faut-il bientôt renouveler ?
    En avion, je panique.|De quoi a-t-il peur ?
    Le soir, je lis surtout des polars.|Quels livres aime-t-elle ?
    Le matin, je prends un comprimé contre l'hypertension.|De quels médicaments a-t-il besoin ?
    Je me suis cassé le bras au ski.|Quelle blessure a-t-il eue ?
    Je suis née en 1988.|Quel âge a-t-elle ?
    Je ne mange plus de viande depuis longtemps.|Est-il végétarien ?
    Le loyer est de neuf cents euros par mois.|Combien coûte son appartement ?
    Je fais le gâteau au citron d'après la recette de ma grand-mère.|Quel dessert prépare-t-il lui-même ?
    Mon portable tourne sous Linux.|Quel système d'exploitation utilise-t-elle ?
    Un jour, je voudrais ouvrir une petite boulangerie.|Quel est son rêve professionnel ?
    Nous avons divorcé l'année dernière.|Est-elle encore mariée ?
    En juillet, nous prenons le train de nuit pour Vienne.|Où partent-ils en vacances ?
    Notre fils ne s'endort qu'avec la lumière allumée.|De quoi l'enfant a-t-il besoin la nuit ?
  `,
  pt: `
    Desde a primavera moro no Porto.|Onde fica a casa dele?
    Se como amendoim, fico sem ar.|Que alimento lhe causa alergia?
    Trabalho como enfermeira nos cuidados intensivos.|Qual é a profissão dela?
    O nosso cão chama-se Bruno e é um salsicha.|Que animal de estimação eles têm?
    Todos os sábados vou escalar.|Que desporto pratica no fim de semana?
    Conduzo um velho Volvo vermelho.|Que carro ele possui?
    A minha irmã casa-se em junho em Florença.|Quando é a boda?
    Depois do meio-dia já não tomo café.|A partir de que horas evita a cafeína?
    Tenho aulas de violino há um ano.|Que instrumento está a aprender?
    A minha chefe é a senhora Lindner.|Quem é a superior dele?
    O meu passaporte caduca em agosto.|Que documento é preciso renovar em breve?
    Nos aviões entro em pânico.|De que é que ele tem medo?
    À noite leio sobretudo policiais.|De que livros gosta?
    De manhã tomo um comprimido para a tensão alta.|De que medicamentos precisa?
    Parti o braço a esquiar.|Que lesão sofreu?
    Nasci em 1988.|Que idade tem?
    Há muito tempo que não como carne.|Ele é vegetariano?
    A renda são novecentos euros por mês.|Quanto custa o apartamento dela?
    Faço o bolo de limão com a receita da minha avó.|Que sobremesa ele prepara?
    O meu portátil corre Linux.|Que sistema operativo usa?
    Um dia quero abrir uma pequena padaria.|Qual é o sonho profissional dele?
    Divorciámo-nos no ano passado.|Ela ainda é casada?
    Em julho apanhamos o comboio noturno para Viena.|Para onde vão de férias?
    O nosso filho só adormece com a luz acesa.|De que precisa a criança de noite?
  `,
  zh: `
    春天以来我一直住在杭州。|他的家在哪里？
    我一吃花生就喘不过气。|他对什么食物过敏？
    我在重症监护室当护士。|她的职业是什么？
    我们的狗叫豆豆，是一只腊肠。|家里养了什么宠物？
    每个星期六我都去攀岩。|她周末做什么运动？
    我开一辆旧的红色沃尔沃。|他有什么样的汽车？
    我姐姐六月在佛罗伦萨结婚。|婚礼是什么时候？
    中午以后我不再喝咖啡。|他几点以后不摄入咖啡因？
    我学小提琴已经一年了。|她在练习哪种乐器？
    我的老板是林女士。|他的上司是谁？
    我的护照八月到期。|哪个证件需要更新？
    一坐飞机我就恐慌。|他害怕什么？
    晚上我最爱看侦探小说。|她喜欢什么书？
    早上我要吃一片降压药。|他需要服用哪些药物？
    滑雪的时候我摔断了胳膊。|他受过什么伤？
    我出生于1988年。|她多大年纪？
    我很久不吃肉了。|他是素食者吗？
    房租每个月九百欧元。|她的公寓多少钱？
    柠檬蛋糕我按奶奶的配方烤。|他会自己做什么甜点？
    我的笔记本装的是Linux。|她用什么操作系统？
    有一天我想开一家小面包店。|他的职业梦想是什么？
    我们去年离婚了。|她还有丈夫吗？
    七月我们坐夜车去维也纳。|他们去哪里度假？
    我们的儿子要开着灯才睡得着。|孩子夜里需要什么？
  `,
  ja: `
    春から名古屋に住んでいます。|彼の家はどこですか？
    ピーナッツを食べると息ができなくなります。|どんな食品アレルギーがありますか？
    集中治療室で看護師をしています。|彼女の職業は何ですか？
    うちの犬はブルーノという名前のダックスフントです。|どんなペットを飼っていますか？
    毎週土曜日にクライミングに行きます。|週末にするスポーツは？
    古い赤いボルボに乗っています。|どんな車を持っていますか？
    姉は六月にフィレンツェで結婚します。|挙式はいつですか？
    正午を過ぎたらコーヒーは飲みません。|何時からカフェインを控えますか？
    一年前からバイオリンを習っています。|練習している楽器は何ですか？
    私の上司は林さんです。|ボスは誰ですか？
    パスポートは八月に切れます。|更新が必要な書類は何ですか？
    飛行機に乗るとパニックになります。|何が怖いのですか？
    夜は推理小説をよく読みます。|どんな本が好きですか？
    毎朝、血圧の錠剤を飲みます。|必要な薬は何ですか？
    スキーで腕を折りました。|どんな怪我をしましたか？
    1988年に生まれました。|彼女は何歳ですか？
    もう長いこと肉を食べていません。|彼はベジタリアンですか？
    家賃は月に九百ユーロです。|アパートの費用はいくらですか？
    レモンケーキは祖母のレシピで焼きます。|自分で作るデザートは何ですか？
    私のノートパソコンにはLinuxが入っています。|使っているオペレーティングシステムは？
    いつか小さなパン屋を開きたいです。|将来の夢は何ですか？
    去年、離婚しました。|まだ結婚していますか？
    七月に夜行列車でウィーンへ行きます。|休暇の旅行先は？
    息子は明かりをつけないと眠れません。|子供は夜に何が必要ですか？
  `,
  ko: `
    봄부터 대전에 살고 있어요.|그의 집은 어디예요?
    땅콩을 먹으면 숨을 못 쉬어요.|어떤 음식 알레르기가 있나요?
    중환자실에서 간호사로 일해요.|그녀의 직업은 무엇인가요?
    우리 강아지 이름은 브루노이고 닥스훈트예요.|어떤 반려동물이 있나요?
    토요일마다 암벽 등반을 하러 가요.|주말에 하는 운동은 뭐예요?
    오래된 빨간 볼보를 몰아요.|어떤 자동차를 가지고 있나요?
    언니가 유월에 피렌체에서 결혼해요.|예식은 언제인가요?
    정오 이후에는 커피를 마시지 않아요.|몇 시부터 카페인을 피하나요?
    일 년째 바이올린을 배우고 있어요.|연습하는 악기는 무엇인가요?
    제 상사는 임 부장님이에요.|보스가 누구예요?
    여권이 팔월에 만료돼요.|어떤 서류를 갱신해야 하나요?
    비행기를 타면 공황이 와요.|무엇을 무서워하나요?
    밤에는 추리 소설을 주로 읽어요.|어떤 책을 좋아하나요?
    아침마다 혈압 알약을 먹어요.|필요한 약은 무엇인가요?
    스키를 타다가 팔이 부러졌어요.|어떤 부상을 당했나요?
    저는 1988년에 태어났어요.|그녀는 몇 살이에요?
    고기를 안 먹은 지 오래됐어요.|그는 채식주의자인가요?
    월세는 한 달에 구백 유로예요.|아파트 비용이 얼마예요?
    레몬 케이크는 할머니 레시피로 구워요.|직접 만드는 디저트는 뭐예요?
    제 노트북에는 리눅스가 깔려 있어요.|사용하는 운영 체제는 뭐예요?
    언젠가 작은 빵집을 열고 싶어요.|장래 꿈은 무엇인가요?
    우리는 작년에 이혼했어요.|아직 남편이 있나요?
    칠월에 야간열차를 타고 빈에 가요.|휴가를 어디로 가나요?
    아들은 불을 켜야 잠들어요.|아이는 밤에 무엇이 필요한가요?
  `,
}

/** In the same form. */
const UNSEEN: Readonly<Record<string, string>> = {
  de: `
    Mein Bruder spielt Schlagzeug in einer Jazzband.|Wer in der Familie macht Musik?
    Die Kinder gehen in die Waldschule am See.|Wo werden Sohn und Tochter unterrichtet?
    Vor dem Schlafengehen trinke ich Kamillentee.|Was ist sein abendliches Getränk?
    Unser Garten hat drei Apfelbäume und ein Hochbeet.|Was wächst hinter dem Haus?
    Am Donnerstag habe ich einen Termin beim Zahnarzt.|Welcher Arztbesuch steht an?
    Ich spreche fließend Portugiesisch.|Welche Fremdsprache beherrscht sie?
    Mein Kontostand ist gerade im Minus.|Hat er finanzielle Sorgen?
    Letzte Woche wurde mir das Fahrrad gestohlen.|Was ist ihm abhandengekommen?
    Für den Halbmarathon laufe ich viermal pro Woche.|Worauf bereitet sie sich vor?
    Meine Tochter will Tierärztin werden.|Welchen Berufswunsch hat das Kind?
  `,
  es: `
    Mi hermano toca la batería en un grupo de jazz.|¿Quién hace música en la familia?
    Los niños van al colegio junto al lago.|¿Dónde estudian sus hijos?
    Antes de dormir bebo una manzanilla.|¿Cuál es su infusión nocturna?
    En el jardín tenemos tres manzanos.|¿Qué árboles crecen detrás de la casa?
    El jueves tengo cita con el dentista.|¿Qué visita médica tiene pendiente?
    Hablo portugués con fluidez.|¿Qué idioma extranjero domina?
    Mi cuenta está en números rojos.|¿Tiene problemas de dinero?
    La semana pasada me robaron la bicicleta.|¿Qué ha perdido?
    Corro cuatro veces por semana para la media maratón.|¿Para qué competición se prepara?
    Mi hija quiere ser veterinaria.|¿Qué profesión sueña la niña?
  `,
  fr: `
    Mon frère joue de la batterie dans un groupe de jazz.|Qui fait de la musique dans la famille ?
    Les enfants vont à l'école au bord du lac.|Où étudient-ils ?
    Avant de dormir, je bois une camomille.|Quelle est sa boisson du soir ?
    Au jardin, nous avons trois pommiers.|Quels arbres poussent derrière la maison ?
    Jeudi, j'ai rendez-vous chez le dentiste.|Quelle visite médicale est prévue ?
    Je parle couramment portugais.|Quelle langue étrangère maîtrise-t-elle ?
    Mon compte est à découvert.|A-t-il des soucis d'argent ?
    La semaine dernière, on m'a volé mon vélo.|Qu'a-t-il perdu ?
    Je cours quatre fois par semaine pour le semi-marathon.|À quelle compétition se prépare-t-elle ?
    Ma fille veut devenir vétérinaire.|Quel métier l'enfant rêve-t-elle de faire ?
  `,
  pt: `
    O meu irmão toca bateria numa banda de jazz.|Quem faz música na família?
    As crianças andam na escola junto ao lago.|Onde estudam os filhos?
    Antes de dormir bebo um chá de camomila.|Qual é a sua bebida noturna?
    No jardim temos três macieiras.|Que árvores crescem atrás da casa?
    Na quinta-feira tenho consulta no dentista.|Que visita médica está marcada?
    Falo espanhol fluentemente.|Que língua estrangeira domina?
    A minha conta está a descoberto.|Ele tem problemas de dinheiro?
    Na semana passada roubaram-me a bicicleta.|O que é que ele perdeu?
    Corro quatro vezes por semana para a meia maratona.|Para que competição se prepara?
    A minha filha quer ser veterinária.|Com que profissão sonha a menina?
  `,
  zh: `
    我弟弟在爵士乐队打鼓。|家里谁搞音乐？
    孩子们在湖边的学校上学。|儿子和女儿在哪里读书？
    睡觉前我喝菊花茶。|他晚间的饮料是什么？
    我们的花园里有三棵苹果树。|屋子后面种了什么？
    星期四我约了牙医。|她要去看什么大夫？
    我能说流利的葡萄牙语。|他掌握哪门外语？
    我的账户现在透支了。|她经济上有困难吗？
    上周我的自行车被偷了。|他丢了什么东西？
    为了半程马拉松我每周跑四次。|她在准备什么比赛？
    我女儿想当兽医。|孩子的职业理想是什么？
  `,
  ja: `
    弟はジャズバンドでドラムを叩いています。|家族で音楽をやっているのは誰？
    子供たちは湖のそばの学校に通っています。|息子と娘はどこで勉強していますか？
    寝る前にカモミールティーを飲みます。|夜の飲み物は何ですか？
    庭にはりんごの木が三本あります。|家の裏に何が植えてありますか？
    木曜日に歯医者の予約があります。|どの医者に行く予定ですか？
    ポルトガル語を流暢に話せます。|できる外国語は何ですか？
    口座は今、赤字です。|お金に困っていますか？
    先週、自転車を盗まれました。|何をなくしましたか？
    ハーフマラソンのために週四回走っています。|どんな大会の準備をしていますか？
    娘は獣医になりたがっています。|子供の夢の職業は？
  `,
  ko: `
    남동생은 재즈 밴드에서 드럼을 쳐요.|가족 중에 누가 음악을 하나요?
    아이들은 호숫가 학교에 다녀요.|아들과 딸은 어디서 공부하나요?
    자기 전에 캐모마일 차를 마셔요.|저녁 음료는 무엇인가요?
    정원에 사과나무가 세 그루 있어요.|집 뒤에 무엇이 자라나요?
    목요일에 치과 예약이 있어요.|어떤 의사를 만날 예정인가요?
    포르투갈어를 유창하게 해요.|할 줄 아는 외국어는 뭐예요?
    제 계좌가 지금 마이너스예요.|돈 문제가 있나요?
    지난주에 자전거를 도둑맞았어요.|무엇을 잃어버렸나요?
    하프 마라톤을 위해 일주일에 네 번 달려요.|어떤 대회를 준비하나요?
    딸은 수의사가 되고 싶어 해요.|아이의 장래 희망은 무엇인가요?
  `,
}

/** Questions that no fact answers. */
const UNRELATED: Readonly<Record<string, string>> = {
  de: `
    Was ist die Hauptstadt der Mongolei?
    Wie sortiere ich ein Array in Rust?
    Wer gewann 1987 die Curling-Weltmeisterschaft?
    Wie viele Monde hat der Uranus?
    Erkläre mir die Regeln von Baseball.
  `,
  es: `
    ¿Cuál es la capital de Mongolia?
    ¿Cómo se ordena un array en Rust?
    ¿Quién ganó el mundial de curling en 1987?
    ¿Cuántas lunas tiene Urano?
    Explícame las reglas del béisbol.
  `,
  fr: `
    Quelle est la capitale de la Mongolie ?
    Comment trier un tableau en Rust ?
    Qui a gagné le championnat de curling en 1987 ?
    Combien de lunes possède Uranus ?
    Explique-moi les règles du baseball.
  `,
  pt: `
    Qual é a capital da Mongólia?
    Como se ordena um array em Rust?
    Quem ganhou o campeonato de curling em 1987?
    Quantas luas tem Urano?
    Explica-me as regras do beisebol.
  `,
  zh: `
    蒙古的首都是哪里？
    怎样用Rust给数组排序？
    谁赢得了1987年的冰壶锦标赛？
    天王星有几颗卫星？
    解释一下棒球的规则。
  `,
  ja: `
    モンゴルの首都はどこですか？
    Rustで配列を並べ替えるには？
    1987年のカーリング選手権の優勝者は？
    天王星の衛星はいくつありますか？
    野球のルールを説明してください。
  `,
  ko: `
    몽골의 수도는 어디예요?
    Rust에서 배열을 어떻게 정렬하나요?
    1987년 컬링 선수권 우승자는 누구인가요?
    천왕성의 위성은 몇 개예요?
    야구 규칙을 설명해 주세요.
  `,
}

export function loadMultilingualSet(): EvalSet {
  const pairs = [...parseFacts(DEVELOPMENT, 'development'), ...parseFacts(UNSEEN, 'unseen')]
  return {
    documents: pairs.map(({ id, group, text }): EvalDocument => {
      return { id, group, session: null, ts: null, speaker: null, text, caption: null }
    }),
    queries: pairs
      .map(({ id, group, question, category }): EvalQuery => {
        return {
          ...{ id, group, question, category, gold: [id] },
          ...{ goldSessions: [], askedAt: null, isUnanswerable: false },
        }
      })
      .concat(parseUnrelated()),
  }
}

function parseUnrelated(): readonly EvalQuery[] {
  return Object.entries(UNRELATED).flatMap(([group, lines]) =>
    splitLines(lines).map((question, index) => ({
      ...{ id: `${group}-unrelated-${index}`, group, question, category: `${group} unrelated` },
      ...{ gold: [], goldSessions: [], askedAt: null, isUnanswerable: true },
    })),
  )
}

function splitLines(lines: string): readonly string[] {
  return lines
    .trim()
    .split('\n')
    .map((line) => line.trim())
}

function parseFacts(tables: Readonly<Record<string, string>>, part: string) {
  return Object.entries(tables).flatMap(([group, lines]) =>
    splitLines(lines).map((line, index) => {
      const [text = '', question = ''] = line.split('|')
      return {
        id: `${group}-${part}-${index}`,
        group,
        text,
        question,
        category: `${group} ${part}`,
      }
    }),
  )
}
