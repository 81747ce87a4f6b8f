/**
 * States that a person or a thing is in, as data: what says that a state holds, and what says that it has ended. A state
 * may end without any of its words being repeated: "single" and "got married", "half finished" and "shipped".
 */

/** A state with alternatives of which one holds at a time. The first pattern that matches names the alternative. */
export type Alternatives = {
  readonly name: string
  /** Search terms of statements about the state. */
  readonly terms: string
  /** Two values that can hold at the same time. */
  readonly compatible?: readonly string[]
  /** Whether a word for a change is required: many people use two messengers, and have one marital status. */
  readonly needsChange?: true
  /** What the older statement must also match: "I use Spotify" states a use, "I work at Spotify" does not. */
  readonly inUse?: RegExp
} & (
  | { readonly values: readonly (readonly [value: string, pattern: RegExp])[] }
  /** The values are the names of products. */
  | { readonly names: RegExp }
)

/** A state without a list of alternatives. */
export type OpenState = {
  readonly name: string
  readonly terms: string
  readonly holds: RegExp
  readonly ends: RegExp
  /** Whether both statements must also share a word: "reading Dune" and "finished Dune". */
  readonly sharesWord?: true
}

const B = '(?<![\\p{L}\\p{N}])'
const E = '(?![\\p{L}\\p{N}])'

/** Whole words in any script. */
function words(alternatives: string): RegExp {
  return new RegExp(`${B}(?:${alternatives})${E}`, 'u')
}
/** With further patterns for scripts without spaces. */
function wordsOr(alternatives: string, others: string): RegExp {
  return others === ''
    ? words(alternatives)
    : new RegExp(`${B}(?:${alternatives})${E}|${others}`, 'u')
}

const EAST_ASIAN = /[\p{Script=Han}\p{Script=Katakana}]/u

const USE =
  /(?<!\p{L})(?:use|uses|using|on|with|via|run|runs|write|code|listen|stream|pay|bank|at|in|nutze|nutzen|benutze|verwende|bei|mit|uso|usamos|utilise|utilisons|avec|usamos|is|am|are|have|ist|es|est|é|my|our)(?!\p{L})|用|使|を|で/u

export const ALTERNATIVES: readonly Alternatives[] = [
  {
    name: 'relationship',
    terms:
      'single married engaged divorced separated widowed dating husband wife spouse partner girlfriend boyfriend fiancé together verheiratet ledig geschieden verlobt freundin freund mann frau casado casada soltero soltera divorciado novio novia esposa esposo marido mujer pareja marié mariée célibataire divorcé fiancée mari femme copain copine solteira solteiro namorado namorada mulher 单身 结婚 已婚 离婚 女朋友 男朋友 独身 結婚 離婚 彼女 彼氏',
    values: [
      [
        'divorced',
        wordsOr(
          'divorced?|getting (?:a )?divorce|filed for divorce|ex-?(?:husband|wife)|geschieden|scheidung|lasse[n]? .{0,20}scheiden|divorci\\p{L}+|me divorcié|divorcée?|on a divorcé|divorciei|divorciad[oa]',
          '离婚|離婚',
        ),
      ],
      [
        'widowed',
        wordsOr('widow(?:ed|er)?|verwitwet|witwer?|viud[oa]|veu(?:f|ve)|viúv[oa]', '丧偶'),
      ],
      [
        'separated',
        wordsOr(
          '(?:broke|broken|split|splitting|breaking) up|separated|we split|parted ways|dumped (?:me|him|her)|left me|(?:called|calling) off the (?:engagement|wedding)|it is over (?:with|between)|not together(?: anymore)?|no longer together|(?:single|on my own) again|newly single|getrennt|schluss gemacht|auseinander|wieder single|separad[oa]s?|separamos|rompí|rompimos|lo dejamos|hemos roto|cortamos|sépar\\p{L}+|rompu|quittés?|plus ensemble|terminei|terminamos|separei|larguei',
          '分手|分居|别居|別居|別れ',
        ),
      ],
      [
        'married',
        wordsOr(
          '(?:got|get|getting|am|is|are|were|been|be|happily|now|just|newly) married|married (?:now|since|to|for|last|in|on|yesterday|at)|marry|tied the knot|eloped|said i do|husband|wife|spouse|newlyweds?|honeymoon|verheiratet|geheiratet|hochzeit war|ehemann|ehefrau|meine frau|mein mann|casad[oa]s?|me casé|nos casamos|mi (?:esposo|esposa|marido|mujer)|marié[es]*|me suis marié\\p{L}*|mon mari|ma femme|me casei|casamos|meu marido|minha (?:esposa|mulher)',
          '结婚|已婚|結婚|老公|老婆|妻子|丈夫',
        ),
      ],
      [
        'engaged',
        wordsOr(
          '(?:got|am|are|is|we are|just) engaged|engaged (?:to|now|since)|fianc[ée]e?|proposed|said yes|verlobt|verlobte[rn]?|comprometid[oa]s?|prometid[oa]s?|fiancés?|noiv[oa]s?|fiquei noiv[oa]',
          '订婚|婚約',
        ),
      ],
      [
        'dating',
        wordsOr(
          'boyfriend|girlfriend|(?:am|are|started|been|is) (?:dating|seeing (?:someone|each other|a))|in a relationship|(?:i|we) (?:are|am) together|and i are (?:together|a couple|dating)|back together|(?:met|found) someone|partner|zusammen|freundin|feste[nr]? freund|novi[oa]|en una relación|pareja|en couple|copine?|copain|namorad[oa]|namorando',
          '女朋友|男朋友|恋爱|交往|彼女|彼氏|付き合',
        ),
      ],
      [
        'single',
        wordsOr(
          'single|unmarried|not (?:married|dating|seeing)|solter[oa]|ledig|célibataire|solteir[oa]',
          '单身|独身',
        ),
      ],
    ],
    compatible: ['single divorced', 'single separated', 'single widowed', 'engaged dating'],
  },
  {
    name: 'diet',
    terms:
      'vegan vegetarian veggie pescatarian meat fish eat diet vegetarisch vegetarier fleisch vegano vegetariano carne végétarien végan viande 素食 吃素 ベジタリアン',
    values: [
      ['vegan', wordsOr('vegan[eao]?r?s?|végane?|plant[- ]based', '纯素|ヴィーガン|ビーガン')],
      [
        'pescatarian',
        wordsOr('pescatarian|pescetarian|eat(?:ing)? fish|pescetariano|pescétarien\\p{L}*', ''),
      ],
      [
        'meat',
        wordsOr(
          'eat(?:s|ing)? (?:meat|everything|anything|chicken|steak|burgers?)|meat eater|(?:eat(?:s|ing)?|having|back (?:to|on) (?:eating )?)(?: some)? meat|omnivore|not (?:vegan|vegetarian|veggie)(?: anymore)?|no longer (?:vegan|vegetarian|veggie)|stopped being (?:vegan|vegetarian|veggie)|esse (?:wieder |jetzt wieder )?(?:fleisch|alles)|como (?:carne|de todo)|vuelvo a comer carne|mange (?:de nouveau |à nouveau )?de la viande|voltei a comer carne',
          '吃肉|肉を食べ',
        ),
      ],
      [
        'vegetarian',
        wordsOr(
          'vegetarian|veggie|vegetarier(?:in)?|vegetarisch|vegetarian[oa]|végétarien(?:ne)?|not eat meat|no meat|meat[- ]free|stopped eating meat|gave up meat|quit meat|esse kein fleisch|kein fleisch mehr|no como carne|ne mange (?:pas|plus) de viande|não como carne',
          '吃素|素食|不吃肉|ベジタリアン|菜食',
        ),
      ],
    ],
  },
  {
    name: 'smoking',
    terms:
      'smoke smoking smoker cigarettes rauche raucher fumo fumar fume fumer fumador cigarro 抽烟 タバコ',
    values: [
      [
        'no',
        wordsOr(
          '(?:quit|stopped|gave up|given up|stop|no longer|done with|off|not) (?:smoking|smoke|cigarettes|vaping|nicotine|the cigarettes)|smoke[- ]?free|non-?smoker|not smok\\p{L}+(?: .{0,20})?|(?:my )?last cigarette|rauchfrei|nichtraucher\\p{L}*|aufgehört zu rauchen|mit dem rauchen aufgehört|rauche nicht(?: mehr)?|(?:dejé|he dejado) (?:de fumar|el tabaco)|ya no fumo|no fumo|(?:arrêté|arrete) (?:de fumer|la cigarette)|ne fume (?:plus|pas)|(?:parei|larguei|deixei) (?:de fumar|o cigarro)|não fumo(?: mais)?',
          '戒烟|不抽烟|不吸烟|禁煙|(?:タバコ|煙草|たばこ)を?(?:やめ|吸わ)',
        ),
      ],
      [
        'yes',
        wordsOr(
          'smoke|smokes|smoking|smoker|cigarettes?|vape|rauche|raucher(?:in)?|fumo|fumador\\p{L}*|fumante|fume',
          '抽烟|吸烟|(?:タバコ|煙草|たばこ)を?(?:吸い|吸う|吸って)',
        ),
      ],
    ],
  },
  {
    name: 'alcohol',
    terms: 'drink alcohol beer wine sober trinke alkohol bebo cerveza vino bois vin cerveja vinho',
    values: [
      [
        'no',
        words(
          '(?:quit|stopped|gave up|given up|stop|no longer|not|never) (?:drinking|drink|alcohol|booze)(?: alcohol| anymore| beer| wine)?|sober|no (?:more )?alcohol|teetotal\\p{L}*|trinke keinen alkohol(?: mehr)?|no bebo(?: alcohol)?|dejé de beber|ne bois (?:plus|pas) d.alcool|arrêté (?:de boire|l.alcool)|não bebo|parei de beber',
        ),
      ],
      [
        'yes',
        words(
          'drink (?:beer|wine|alcohol|whisky|a lot|a glass)|drinking (?:beer|wine|again)|drink again|trinke (?:bier|wein|alkohol)|bebo (?:cerveza|vino|alcohol|cerveja|vinho)|bois (?:du vin|de la bière|de l.alcool)',
        ),
      ],
    ],
  },
  {
    name: 'hours',
    terms:
      'part-time full-time part full time days week teilzeit vollzeit jornada tiempo temps meio período',
    values: [
      [
        'part',
        words(
          'part[- ]time|(?:[1-4]|two|three|four) days a week|half[- ]time|teilzeit|halbtags|media jornada|tiempo parcial|temps partiel|mi-temps|meio período|tempo parcial',
        ),
      ],
      [
        'full',
        words(
          'full[- ]time|five days a week|5 days a week|vollzeit|jornada completa|tiempo completo|temps plein|plein temps|tempo integral|período integral',
        ),
      ],
    ],
  },
  {
    name: 'place of work',
    terms: 'remote home office hybrid work homeoffice büro oficina bureau escritório',
    values: [
      [
        'home',
        words(
          '(?:work(?:s|ing)?|am|is|go(?:ing)?|went)(?: fully| entirely| completely| mostly)? (?:from home|remote(?:ly)?)|fully remote|home ?office|remote (?:job|work|position)|teletrabajo|télétravail',
        ),
      ],
      ['hybrid', words('hybrid')],
      [
        'office',
        words(
          '(?:work(?:s|ing)? (?:in|at|from)|back (?:in|to|at)|return(?:ed)? to) the office(?: full[- ]time| every day)?|on[- ]?site|in[- ]office|im büro|en la oficina|au bureau|no escritório',
        ),
      ],
    ],
    needsChange: true,
  },
  {
    name: 'pregnancy',
    terms: 'pregnant expecting due baby schwanger embarazada enceinte grávida 怀孕 妊娠',
    values: [
      [
        'born',
        wordsOr(
          '(?:was|were|got|is|been) born|gave birth|(?:had|have had) (?:the|our|her|a) (?:baby|twins|son|daughter|boy|girl)|baby (?:is|has|was) (?:here|arrived|born)|(?:baby|daughter|son|twins) (?:has |have )?arrived|became (?:a )?(?:mother|father|parents?|mum|mom|dad)|newborn|(?:zur|auf die) welt gekommen|geboren|nació|dio a luz|di a luz|né[es]*|accouché|nasceu|dei à luz|deu à luz',
          '出生|生了|生まれ|出産',
        ),
      ],
      [
        'miscarriage',
        words('miscarri\\p{L}+|lost the baby|fehlgeburt|aborto espontáneo|fausse couche'),
      ],
      [
        'pregnant',
        wordsOr(
          'pregnant|expecting|trimester|due date|baby is due|due in|weeks along|schwanger|embarazada|enceinte|grávida|en cinta',
          '怀孕|妊娠',
        ),
      ],
    ],
  },
  {
    name: 'theme',
    terms: 'dark light mode theme',
    values: [
      [
        'dark',
        words('dark (?:mode|theme)|dunkel(?:modus|les)|modo oscuro|mode sombre|modo escuro'),
      ],
      ['light', words('light (?:mode|theme)|hell(?:er modus|modus|es)|modo claro|mode clair')],
    ],
  },
  {
    name: 'length of answers',
    terms: 'short long answers replies brief detailed',
    values: [
      [
        'short',
        words(
          '(?:short|shorter|brief|concise|terse) (?:answers?|replies|responses|summaries)|(?:answers?|replies|responses) (?:to be |should be )?(?:short|shorter|brief|concise)',
        ),
      ],
      [
        'long',
        words(
          '(?:long|longer|detailed|thorough|in-depth) (?:answers?|replies|responses|explanations?)|(?:answers?|replies|responses) (?:to be |should be |can be )?(?:long|longer|detailed|thorough)',
        ),
      ],
    ],
  },
  {
    name: 'language of answers',
    terms: 'reply answer respond language english german spanish french',
    values:
      'english german spanish french portuguese italian dutch japanese chinese polish korean deutsch englisch spanisch'
        .split(' ')
        .map((name) => [name, words(name)] as const),
    inUse: words('reply|answer|answers|respond|write to me|talk to me|antworte|antworten|replies'),
  },
  {
    name: 'units',
    terms: 'metric imperial celsius fahrenheit units',
    values: [
      ['metric', words('metric|celsius|kilomet\\p{L}+')],
      ['imperial', words('imperial|fahrenheit|miles')],
    ],
    needsChange: true,
  },
  {
    name: 'indentation',
    terms: 'tabs spaces indent indentation',
    values: [
      ['tabs', words('(?:use|uses|using|prefer|with|always) tabs|tabs (?:for|instead|over)')],
      [
        'spaces',
        words('(?:use|uses|using|prefer|with|to|always) spaces|spaces (?:for|instead|over|now)'),
      ],
    ],
  },
  {
    name: 'music service',
    ...brands(
      'spotify tidal deezer qobuz|apple music|youtube music|amazon music|soundcloud|pandora',
    ),
    needsChange: true,
    inUse: USE,
  },
  {
    name: 'team chat',
    ...brands('slack|(?:microsoft )?teams|discord|mattermost|zulip|rocket\\.?chat|google chat'),
    needsChange: true,
    inUse: USE,
  },
  {
    name: 'messenger',
    ...brands('whatsapp|signal|telegram|threema|imessage|wechat'),
    needsChange: true,
    inUse: USE,
  },
  {
    name: 'editor',
    ...brands(
      'vim|neovim|emacs|helix|zed|vs ?code|visual studio code|sublime(?: text)?|intellij|pycharm|webstorm|cursor|nano|eclipse|xcode|android studio',
    ),
    needsChange: true,
    inUse: USE,
  },
  {
    name: 'browser',
    ...brands('chrome|firefox|safari|brave|edge|opera|vivaldi|arc'),
    needsChange: true,
    inUse: USE,
  },
  {
    name: 'operating system',
    ...brands('windows|linux|ubuntu|debian|fedora|arch|nixos|mint|macos|mac|chromeos'),
    needsChange: true,
    inUse: USE,
  },
  {
    name: 'phone',
    ...brands(
      'iphone|pixel|galaxy|samsung|fairphone|oneplus|xiaomi|huawei|nokia|motorola|sony xperia|nothing phone|android',
    ),
    needsChange: true,
  },
  {
    name: 'laptop',
    ...brands('macbook|thinkpad|dell|xps|surface|framework|lenovo|asus|acer|hp|chromebook|zenbook'),
    needsChange: true,
  },
  {
    name: 'car',
    ...brands(
      'polo|golf|passat|vw|volkswagen|skoda|octavia|fabia|bmw|audi|mercedes|opel|corsa|astra|ford|fiesta|focus|toyota|corolla|yaris|prius|honda|civic|jazz|mazda|nissan|leaf|micra|kia|niro|picanto|hyundai|kona|ioniq|renault|clio|zoe|peugeot|citro[eë]n|fiat|panda|punto|seat|ibiza|leon|volvo|tesla|model [3syx]|mini|subaru|suzuki|dacia|sandero|duster|chevrolet|jeep|porsche|saab|smart|twingo|tiguan|subaru|outback|forester|rav4|prius|大众|丰田|本田|奔驰|宝马|特斯拉|プリウス|カローラ|フィット|テスラ|gol|onix|palio|uno',
    ),
    needsChange: true,
    inUse:
      /(?<!\p{L})(?:drive|drives|driving|car|own|have|has|bought|fahre|fährt|auto|habe|conduzco|coche|carro|tengo|tenho|dirijo|conduis|roule|voiture|ai|my|our|got)(?!\p{L})|开|车|乗って|車/u,
  },
  {
    name: 'bank',
    ...brands(
      'ing|n26|dkb|monzo|revolut|starling|chase|hsbc|barclays|lloyds|santander|bbva|comdirect|commerzbank|deutsche bank|wells fargo|nubank|itaú|bradesco|nationwide|natwest|wise|sparkasse|boursorama|bnp',
    ),
    needsChange: true,
    inUse: /(?<!\p{L})(?:bank|account|banking|konto|cuenta|banco|compte|banque|conta)(?!\p{L})/u,
  },
  {
    name: 'hosting',
    ...brands(
      'heroku|aws|azure|gcp|google cloud|fly\\.io|vercel|netlify|render|hetzner|digitalocean|cloudflare|railway',
    ),
    needsChange: true,
    inUse:
      /(?<!\p{L})(?:deploy|deploys|deployed|host|hosted|hosting|run|runs|running|on|use|servers?)(?!\p{L})/u,
  },
  {
    name: 'database',
    ...brands(
      'mysql|postgres(?:ql)?|mongodb|mongo|mariadb|sqlite|dynamodb|oracle|cockroachdb|supabase|firebase|redis',
    ),
    needsChange: true,
    inUse: /(?<!\p{L})(?:database|db|use|run|runs|store|on|datenbank)(?!\p{L})/u,
  },
  {
    name: 'notes app',
    ...brands('notion|obsidian|evernote|onenote|roam|logseq|apple notes|bear'),
    needsChange: true,
    inUse: USE,
  },
  {
    name: 'tracker',
    ...brands('jira|linear|trello|asana|monday\\.com|clickup|github issues|basecamp'),
    needsChange: true,
    inUse: USE,
  },
]

/** Products of one kind: the names are the values and the search terms. */
function brands(list: string): { readonly terms: string; readonly names: RegExp } {
  const names = list.split('|')
  const spaced = names.filter((name) => !EAST_ASIAN.test(name))
  const others = names.filter((name) => EAST_ASIAN.test(name))
  return {
    terms: names.join(' ').replace(/[^\p{L}\p{N} ]/gu, ' '),
    names: new RegExp([`${B}(?:${spaced.join('|')})${E}`, ...others].join('|'), 'gu'),
  }
}

const FINISHED =
  'finished|done|complete|completed|shipped|launched|released|published|submitted|handed in|turned in|delivered|wrapped up|passed|failed|got (?:it|in|the|my|a|an|accepted|rejected|approved)|found (?:it|a|an|one|the|my|our)|bought|signed|accepted|rejected|approved|granted|came through|arrived|is here|went live|goes live|is live|is out|merged|deployed|ran (?:it|the|my)|paid|filled|showed up|turned up|came home|quit|gave up|given up|dropped|abandoned|cancell?ed|scrapped|called off|over|fertig|abgegeben|geschafft|bestanden|gefunden|eingereicht|veröffentlicht|terminad[oa]|terminé|acabé|entregué|aprobé|encontré|lancé|publiqué|fini|terminée?s?|rendu|réussi|trouvé|lancé|publié|terminei|acabei|entreguei|passei|encontrei|lancei|publiquei'

const FINISHED_EAST_ASIAN =
  '完成了|写完|做完|看完|读完|考过|通过了|找到了|上线|发布了|交了|終わ|完成し|出し|合格|見つか|読み終|書き終|リリース'

export const OPEN_STATES: readonly OpenState[] = [
  {
    name: 'home',
    terms:
      'live lives living based moved home flat apartment wohne wohnt lebe lebt gezogen vivo vive mudé habite vis déménagé moro mora mudei 住在 搬到 住んでいます 引っ越しました',
    holds: wordsOr(
      '(?:live|lives|living|based|reside|resides|settled|stay(?:s|ing)?|(?:flat|apartment|place|house|home) is) (?:\\p{L}+ )?(?:in|at|near|on)(?! (?:a|an|the|my|our) )|moved (?:to|into|back)(?! (?:a|an|the|another) )|relocated|home is|(?:wohne|wohnt|wohnen|lebe|lebt|leben) (?:\\p{L}+ )?in(?! (?:miete|einer?|einem|der|dem)(?!\\p{L}))|(?:vivo|vive|vivimos|viven) en(?! (?:un|una|la|el|casa|piso)(?!\\p{L}))|(?:habite|habitons|vis|vit) à|(?:moro|mora|moramos) (?:em|no|na)(?! (?:um|uma|casa|apartamento)(?!\\p{L}))',
      '住在|住(?:んで)|暮らし',
    ),
    ends: wordsOr(
      "(?:have |has |are |is |am )?(?:moved|moving|relocated|relocating|moves)(?: back| away| out| in| house| home| over| permanently| up| down| again| across| abroad)*(?= (?:to|into|in|from|out|with|closer|near|here|last|this|on|again|yesterday|at)(?! (?:a|an|the|another|my|our) (?:\\p{L}+ ){0,2}(?:team|desk|office|department|role|job|project|seat|table|group|server|plan|position|flat|apartment|house|room|sofa|couch))|$)|relocate[ds]?|settled (?:in|down in)|resettled|(?:arrived|landed) in \\p{L}+(?=.*(?:stay|for good|new home|living|live))|(?:is|am|are) (?:now )?(?:based|living|located|settled) in|(?:now )?live[s]? (?:in|at|near)(?! (?:a|an|the|my|our) )|new (?:place|flat|apartment|house|home|address|city|town)|(?:got|have|picked up) the keys|back (?:home )?in (?=\\p{L}+ (?:for good|now|again|permanently)|\\p{L}+$)|emigrated|immigrated|evicted|(?:um|weg|aus|ein|zurück)gezogen|gezogen|ziehe nach|(?:lebe|wohne) (?:jetzt |inzwischen |seit \\p{L}+ |nun |wieder )?in(?! (?:miete|einer?|einem|der|dem)(?!\\p{L}))|(?:me|nos|se) (?:mudé|mudamos|he mudado|hemos mudado|mudó)|(?:ahora )?(?:vivo|vivimos) (?:ahora )?en(?! (?:un|una|la|el|casa|piso)(?!\\p{L}))|déménagé|emménagé|(?:j'|on )?habite[s]? (?:maintenant |désormais )?à|vis maintenant à|(?:me|nos|se) (?:mudei|mudamos|mudou)|mudei-me|(?:agora )?(?:moro|moramos) (?:agora )?(?:em|no|na)(?! (?:um|uma|casa|apartamento)(?!\\p{L}))",
      '搬(?:到|去|回|家|进|出)|移居|现在住|住在|引っ越|移り|移住|転居|に住んで',
    ),
  },
  {
    name: 'tenancy',
    terms: 'rent renting rented flat apartment tenant miete alquiler locataire aluguel',
    holds: words(
      'rent(?:s|ing|ed)? (?:a|an|my|our|the)? ?(?:flat|apartment|room|place|house|studio)|live in a rented (?:flat|apartment|house)|tenants?|zur miete|wohnen zur miete|de alquiler|locataires?|de aluguel',
    ),
    ends: words(
      'bought (?:a|an|our|my|the) (?:\\p{L}+ )?(?:house|flat|apartment|home|place|condo)|homeowners?|own our (?:home|house|flat|apartment)|haus gekauft|wohnung gekauft|comprado (?:una|un) (?:casa|piso)|compramos (?:una|um|uma) (?:casa|piso|apartamento)|acheté (?:une|un) (?:maison|appartement)',
    ),
  },
  {
    name: 'household',
    terms:
      'live alone parents roommates flatmates wohne allein eltern wg vivo solo padres habite seul parents moro sozinho',
    holds: words(
      'live[s]? (?:alone|by myself|on my own|with (?:my |his |her )?(?:parents|roommates?|flatmates?|mum|mom|dad|brother|sister|partner|girlfriend|boyfriend|friends?|\\p{L}+))|shared flat|flat ?share|house ?share|wg|wohne (?:allein|bei|mit)|vivo (?:sol[oa]|con)|habite (?:seule?|avec|chez)|vis (?:seule?|avec)|moro (?:sozinh[oa]|com)',
    ),
    ends: words(
      'moved (?:in|out|back in)|moving (?:in|out)|(?:got|found|have) my own (?:place|flat|apartment)|own place|live[s]? (?:alone|by myself|on my own|with)|living (?:alone|with|on my own)|kicked out|zusammengezogen|ausgezogen|zusammen mit|vivimos juntos|me fui de casa|emménagé|fomos morar juntos|saí de casa',
    ),
  },
  {
    name: 'employer',
    terms:
      'work works job employed company started joined arbeite arbeitet trabajo trabaja travaille trabalho trabalha 工作 上班 働いています 勤めています',
    holds: wordsOr(
      'work|works|working|worked|job|jobs|employed|employee|position|intern(?:ship)?|freelanc\\p{L}*|contractor|started at|joined|(?:am|is) (?:a|an|the|at|with) .{2,40} (?:at|for|with)|arbeite|arbeitet|angestellt|trabajo|trabaja|empleo|travaille|boulot|emploi|trabalho|trabalha|emprego',
      '工作|上班|働|勤め',
    ),
    ends: wordsOr(
      '(?:quit|left|leaving|quitting)(?: (?:my|the|his|her|that) (?:job|company|position|old job|post))?(?=$| (?!the (?:party|house|room|meeting|door|gym|team meeting|chess|choir|club|band))(?:\\p{L}|\\d))|resign(?:ed|ing)|handed in my (?:notice|resignation)|gave (?:my )?notice|fired|laid off|let go|got sacked|made redundant|retired|retiring|unemployed|between jobs|lost my job|(?:start(?:ed|ing|s)?|begin|began) (?:at|working (?:at|for)|a new (?:job|position|role)|my (?:new )?(?:job|role)|work)|new (?:job|employer|company|gig|position)|join(?:ed|ing|s)?(?! (?:a|an|the|my|our) )(?= )|(?:now|currently) work(?:s|ing)? (?:at|for|with|in)|work(?:s|ing)? (?:at|for) .{2,30} (?:now|these days)|hired|first day at|switched jobs|changed jobs|got the job|accepted (?:an|the) offer|signed with|went freelance|self-employed|founded|started my own|gekündigt|entlassen|in rente|arbeite (?:jetzt|seit|inzwischen|nun)|fange .{0,20}an|angefangen|gewechselt|neue[rn]? job|(?:dejé|renuncié|me despidieron|me jubilé|empecé|empiezo|entré|fiché)|trabajo ahora|ahora trabajo|nuevo trabajo|(?:quitté|démissionné|licenciée?|retraite|commencé|commence|rejoint|embauchée?)|nouveau (?:boulot|travail|job)|travaille maintenant|(?:saí|pedi demissão|fui demitid[oa]|me aposentei|comecei|entrei)|agora trabalho|novo emprego',
      '离职|辞职|跳槽|入职|被裁|失业|退休|换工作|现在在.{1,12}(?:工作|上班)|辞め|退職|転職|入社|今は.{1,14}で働',
    ),
  },
  {
    name: 'job title',
    terms:
      'junior senior assistant intern engineer designer developer manager lead head analyst nurse work trainee',
    holds: words(
      '(?:am|is|as|work as|works as) (?:a|an|the)? ?(?:\\p{L}+ ){0,3}(?:junior|senior|assistant|deputy|intern|trainee|apprentice|associate|\\p{L}+(?:er|or|ist|ian|ant|ent)|nurse|lead|head|chief|clerk|chef|cook|analyst|vp|cto|ceo|cfo|engineer)(?: .{0,40})?|junior .{0,30}|intern(?:ing)? .{0,30}|trainee .{0,30}',
    ),
    ends: wordsOr(
      'promot(?:ed|ion)(?: to .{0,40})?|(?:became|become|made|named|appointed)(?: the| a| an)? (?:senior|head|lead|chief|director|manager|partner|team ?lead|principal|staff|deputy|vp|cto|ceo).{0,30}|demoted|stepped (?:down|up)|(?:am|is) (?:now |finally )?(?:the |a |an )?(?:senior|head of|lead|chief|director|team ?lead|principal|staff|vp|cto|ceo|manager).{0,30}|retired|retrained|changed careers?|switched careers?|career change|left (?:nursing|teaching|the profession)|(?:now )?work(?:ing)? as (?:a|an) .{2,30} (?:now|instead)|now work(?:ing)? as .{2,30}|befördert|ascend\\p{L}+|promue?|promovid[oa]',
      '升职|晋升|昇進|昇格',
    ),
  },
  {
    name: 'job search',
    terms:
      'unemployed looking job search jobless arbeitslos suche busco trabajo paro cherche travail chômage procurando emprego 找工作 仕事',
    holds: wordsOr(
      'unemployed|jobless|between jobs|out of work|(?:looking|searching|hunting|applying) for (?:a |an |new |another )?(?:\\p{L}+ )?(?:job|work|jobs|position|internship)|job ?hunt(?:ing)?|job search(?:ing)?|arbeitslos|suche (?:einen |nach einem )?job|arbeitssuchend|desemplead[oa]|en paro|buscando trabajo|busco trabajo|au chômage|cherche (?:du travail|un emploi|un boulot)|desempregad[oa]|procurando emprego',
      '失业|找工作|無職|仕事を探|就活',
    ),
    ends: wordsOr(
      '(?:got|found|landed|accepted|started|have|starting|start) (?:a|an|the|my|that|new)? ?(?:new )?(?:\\p{L}+ )?(?:job|work|offer|position|internship|gig)|hired|(?:start(?:ed|ing|s)?) (?:at|with|working|on \\p{L}+day)|signed (?:the|a|my) (?:job )?contract|(?:now )?work(?:ing)? (?:at|for) .{2,30}|back to work|neue[rn]? job|job gefunden|stelle gefunden|arbeite (?:jetzt|bei)|encontré (?:trabajo|empleo)|trabajo en|trouvé (?:du travail|un emploi|un boulot|un job)|consegui (?:um )?emprego|arrumei',
      '找到工作|入职|仕事が見つか|内定|就職',
    ),
  },
  {
    name: 'studies',
    terms:
      'study studying student university college degree thesis studiere student studium estudio universidad carrera étudie étudiant estudo faculdade 大学 专业 勉強',
    holds: wordsOr(
      "stud(?:y|ies|ying)|students?|(?:at|in|attend(?:s|ing)?|going to) (?:uni|university|college|law school|med school|grad school)|degree|master'?s?|bachelor'?s?|ph\\.?d|thesis|major(?:ing)?(?: in)?|undergrad|studier(?:e|t)|studentin|student|estudi(?:o|a|ando|ante)|carrera|étudi(?:e|ante?)|estud(?:o|a|ante)|faculdade",
      '学习?(?:法律|医|经济|数学|物理|化学|计算机|历史)|大学|专业|学んで|勉強して|専攻|大学生',
    ),
    ends: wordsOr(
      "graduated?|drop(?:ped|ping) out|(?:finished|completed|done with|got|defended|handed in|submitted) (?:my|his|her|the|uni|university|college|law school|school)(?: \\p{L}+)? ?(?:degree|studies|master'?s?|bachelor'?s?|ph\\.?d|thesis|diploma|dissertation|exams?|uni)?|(?:switched|changed|transferred|swapped)(?: my)?(?: major| degree| course| programme?| from .{2,30})? (?:to|into|from) .{2,30}|changed (?:my )?(?:major|degree)|left (?:uni|university|college|school)|quit (?:uni|university|college|school|my studies)|(?:now |actually )?study(?:ing)? .{2,30} (?:now|instead)|now study(?:ing)? .{2,30}|studium (?:abgeschlossen|abgebrochen|beendet)|abgebrochen|studiere (?:jetzt|inzwischen|nun) .{2,30}|fertig studiert|abschluss|me gradué|(?:dejé|terminé|acabé|abandoné) (?:la carrera|la universidad|los estudios)|me cambié a|(?:ahora estudio|estudio ahora) .{2,30}|diplômée?|(?:arrêté|fini|terminé|abandonné) (?:mes études|la fac)|étudie maintenant .{2,30}|me formei|(?:larguei|terminei|tranquei) (?:a faculdade|o curso)|agora estudo .{2,30}",
      '毕业|退学|辍学|转专业|现在学|卒業|中退|退学|転部|今は.{1,12}を(?:勉強|専攻)',
    ),
  },
  {
    name: 'school',
    terms:
      'kindergarten school daycare grade class preschool kita schule colegio école escola 幼儿园 小学',
    holds: words(
      'kindergarten|daycare|day care|nursery|pre-?school|(?:first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth|[1-9]\\p{L}{2}) (?:grade|class|year)|year \\d+|primary school|elementary school|middle school|high school|kita|grundschule|guardería|maternelle|creche',
    ),
    ends: words(
      'started (?:school|kindergarten|pre-?school|nursery|primary|elementary|middle|high|secondary|university|uni|college|grade|first|second|third|fourth|fifth|year).{0,20}|(?:is|am|are) (?:now )?in (?:the )?(?:first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth|[1-9]\\p{L}{2}) (?:grade|class|year)(?: now)?|(?:is )?(?:now )?in (?:year|grade) \\d+|moved up.{0,30}|starts (?:school|secondary|high school).{0,20}|finished (?:school|high school|primary|kindergarten)|graduated.{0,30}|eingeschult|geht jetzt (?:in die|zur) schule|empezó (?:el colegio|la escuela)|entr(?:é|ée) (?:au|à|en) (?:cp|école|collège)|começou (?:a escola|na escola)',
    ),
  },
  {
    name: 'illness',
    terms:
      'sick ill cold flu broken injured hospital cast fever crutches krank erkältet gebrochen enfermo roto malade cassé doente 感冒 生病 骨折 風邪',
    holds: wordsOr(
      '(?:have|has|got|with|caught|am|is|down with) (?:a |an |the |my )?(?:bad |terrible |awful |nasty )?(?:cold|flu|fever|covid|cough|infection|migraine|headache|sick|ill|unwell|bronchitis|pneumonia|toothache|sore throat|back pain)|broken|broke (?:my|his|her)|sprained|injured|injury|crutches|in (?:the )?hospital|in a cast|sick leave|recovering|erkältet|krank|gebrochen|grippe|enferm[oa]|resfriad[oa]|gripe|rot[oa]|malade|grippe|rhume|cassée?|doente|gripad[oa]|quebrad[oa]',
      '感冒|生病|骨折|发烧|风邪|風邪|病気|入院|インフル',
    ),
    ends: wordsOr(
      'healed|(?:fully )?recovered|(?:am|is|feel(?:ing)?|all|much|doing) (?:so much |a lot |totally |completely |much )?(?:better|healthy|fine|well|good|cured|fit)(?: again| now)?|healthy again|cast (?:is|came|comes) off|over (?:the|my|his|her|it) ?(?:cold|flu|covid|illness)?|discharged|home again|back home|came home|out of (?:the )?hospital|back on my feet|(?:walk|walking|running|run) again|cleared by|all clear|cured|fever is gone|is gone|tested negative|no more crutches|gesund|wieder fit|verheilt|geheilt|curad[oa]|recuperad[oa]|ya estoy (?:bien|mejor)|guérie?|remise?|rétablie?|va mieux|melhor(?:ei)?|sarei|recuperei',
      '好了|康复|痊愈|出院|治り|治っ|回復|退院|元気に',
    ),
  },
  {
    name: 'absence',
    terms:
      'vacation holiday leave sabbatical travelling abroad urlaub vacaciones vacances férias 休假 休暇',
    holds: words(
      '(?:on|going on) (?:a )?(?:vacation|holiday|holidays|sabbatical|leave|parental leave|maternity leave|paternity leave|sick leave|a trip|a break)|out of office|travel(?:l)?ing|backpacking|on tour|away (?:until|till|this|for)|abroad|im urlaub|in elternzeit|de vacaciones|de baja|en vacances|en congé|de férias|de licença',
    ),
    ends: wordsOr(
      '(?:am |is |are |got |came |just |finally )*back (?:from|at|home|in|to|now|again|since)|back$|returned|my (?:vacation|holiday|leave|sabbatical) is over|zurück|wieder da|he vuelto|volví|de vuelta|rentrée?|de retour|revenue?|voltei|de volta',
      '回来|回国|休假结束|戻|帰って',
    ),
  },
  {
    name: 'team',
    terms: 'team department squad project shift',
    holds: words(
      '(?:on|in|with|part of|member of|for) (?:the |a )?(?:\\p{L}+ ){1,2}(?:team|department|squad|division|shift|group)',
    ),
    ends: words(
      '(?:moved|switched|transferred|reassigned|moving|switching|changed)(?: over)? (?:to|into) (?:the |a )?(?:\\p{L}+ ){0,2}(?:team|department|squad|division|shift|group|\\p{L}+)',
    ),
  },
  {
    name: 'home search',
    terms:
      'looking flat apartment house hunting suche wohnung busco piso cherche appartement procurando apartamento 找房 部屋',
    holds: wordsOr(
      '(?:looking|searching|hunting) for (?:a |an |another |our )?(?:new )?(?:flat|apartment|place|house|room|home)|(?:flat|house|apartment) ?-?hunting|suche(?:n)? (?:eine )?wohnung|wohnungssuche|busco (?:piso|casa)|buscando (?:piso|casa)|cherche(?:ons)? un (?:appart\\p{L}*|logement)|procurando (?:apartamento|casa)',
      '找房|部屋を探|家を探',
    ),
    ends: wordsOr(
      'found (?:a|an|the|our|my) (?:\\p{L}+ )?(?:flat|apartment|place|house|room|home)|found one|signed (?:the|a|our|my) (?:lease|contract)|(?:got|have|picked up) the (?:keys|flat|apartment|house|place)|moved (?:in|into)|bought (?:a|the|our) (?:house|flat|apartment|place)|wohnung gefunden|encontré (?:piso|casa)|trouvé (?:un )?(?:appart\\p{L}*|logement)|encontrei (?:apartamento|casa)',
      '找到房|租到|見つか',
    ),
  },
  {
    name: 'ability',
    terms:
      'can not swim drive ride licence license learn kann schwimmen führerschein nadar conducir nager conduire dirigir 不会 免許',
    holds: wordsOr(
      "can not (?:swim|drive|ride|cook|ski|skate|read|dance|whistle)|do(?:es)? not (?:have|own) a (?:driving |driver's )?licen[cs]e|never learned|no (?:driving |driver's )licen[cs]e|kann nicht (?:schwimmen|auto fahren|fahrrad fahren|kochen)|keinen führerschein|no sé (?:nadar|conducir|cocinar)|ne sais pas (?:nager|conduire|cuisiner)|pas le permis|não sei (?:nadar|dirigir|cozinhar)",
      '不会(?:游泳|开车|做饭)|没有驾照|泳げ(?:ない|ません)|免許(?:がない|を持っていません)',
    ),
    ends: wordsOr(
      "learn(?:ed|t) (?:to|how to) .{2,20}|can (?:swim|drive|ride|cook|ski|skate|dance)(?: now)?|passed (?:my|the) (?:driving )?test|(?:got|have) my (?:driving |driver's )?licen[cs]e|schwimmen gelernt|kann jetzt .{2,20}|führerschein (?:gemacht|bestanden)|aprendí a .{2,20}|saqué el carn[eé]|appris à .{2,20}|eu mon permis|aprendi a .{2,20}|tirei a carteira",
      '学会|考到驾照|拿到驾照|泳げるよう|免許を(?:取|とり)',
    ),
    sharesWord: true,
  },
  {
    name: 'fear',
    terms: 'afraid scared fear angst miedo peur medo',
    holds: words(
      '(?:afraid|scared|terrified|frightened) of .{2,30}|fear of .{2,30}|angst vor .{2,30}|miedo a .{2,30}|peur (?:de|du|des) .{2,30}|medo de .{2,30}',
    ),
    ends: words(
      '(?:not|no longer) (?:afraid|scared|terrified)(?: .{2,30})?|(?:got|am|getting) over (?:my )?fear.{0,30}|overcame (?:my )?fear.{0,30}|keine angst mehr.{0,30}|ya no .{0,20}miedo.{0,30}|plus peur.{0,30}|perdi o medo.{0,30}',
    ),
    sharesWord: true,
  },
  {
    name: 'task',
    terms:
      'working writing building renovating reading waiting looking saving planning training preparing finished done broken',
    holds: wordsOr(
      'half[- ](?:finished|done|way|written)|(?:\\d+ ?%|percent|nearly|almost) (?:done|finished|complete)|in progress|(?:working|work) on|writing|building|renovat\\p{L}+|reading|watching|training for|preparing|planning|still need|waiting (?:for|on)|(?:looking|searching) for|saving(?: up)? for|applied|applying|trying to|hoping (?:for|to)|not .{0,40}yet|pending|waiting list|waitlist|unpaid|overdue|owe|owes|leaks?|leaking|rattl\\p{L}+|crash(?:es|ing)|fail(?:s|ing)|not work(?:ing)?|missing|lost|short of|vacant|due|draft|beta|stuck|(?:is|am|are) going to|studying for|next (?:week|month)|upcoming|broken|down|out of order|in repair|being (?:repaired|fixed|built|renovated)|open|unresolved|arbeite an|schreibe|baue|renovier\\p{L}+|lese|schaue|trainiere|lerne für|warte auf|suche|spare (?:für|auf)|plane|kaputt|escribiendo|leyendo|trabajando en|construyendo|renovando|esperando|buscando|preparando|ahorrando|roto|estropead[oa]|lis|écris|prépare|attends|cherche|rénov\\p{L}+|économise|en panne|cassée?|lendo|escrevendo|reformando|esperando|procurando|preparando|juntando|quebrad[oa]',
      '在写|在读|在看|在准备|在装修|在等|在找|存钱|坏了|半成品|进行中|読んで|書いて|準備|改装|待って|探して|貯金|壊れ|途中',
    ),
    ends: wordsOr(
      `${FINISHED}|fixed|repaired|working again|back up|up and running|works again|resolved|solved|closed|repariert|wieder ganz|läuft wieder|arreglad[oa]|repar\\p{L}+|consertad[oa]|consertei`,
      `${FINISHED_EAST_ASIAN}|修好|直り|直っ|治`,
    ),
    sharesWord: true,
  },
]
