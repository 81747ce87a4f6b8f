/** Portuguese, Brazilian and European. The subject is often left out, so the verb form itself is the cue. */
import { CRITICAL_IMPORTANCE, createSpacedNotation, NEVER_MATCHING } from '../grammar-notation.ts'
import type { Grammar } from '../types.ts'

const { opening, anywhere, cue } = createSpacedNotation({
  family:
    'mulher|esposa|esposo|marido|companheir[oa]|namorad[oa]|noiv[oa]|filh[oa]s?|crianças?|beb[eê]|gême[oa]s|gémeos|m[aã]e|mam[aã]e|pai|papai|pais|irm[aã]s?|irm[aã]os?|av[oôó]s?|ti[oa]s?|prim[oa]s?|sobrinh[oa]s?|sogr[oa]s?|net[oa]s?|cunhad[oa]s?',
  pets: 'cachorr[oa]s?|cachorrinh[oa]|c[aã]o|cães|cadela|gat[oa]s?|gatinh[oa]s?|animais|animal de estimação|papagaio|hamster|coelhos?|cavalos?|tartarugas?',
  others:
    'chef[ea]|colegas?|vizinh[oa]s?|amig[oa]s?|melhor(?:es)? amig[oa]s?|terapeuta|professora?|médic[oa]|ex|sóci[oa]|patr[aã]o|gerente|senhorio',
  kin: '{family}|{pets}|{others}',
  my: '(?:[oa]s? )?(?:meus?|minhas?|nossos?|nossas?)',
  eu: '(?:(?:eu|nós|a gente|pessoalmente) )?(?:(?:também|sempre|realmente|já|agora|atualmente|ainda|só|somente|sim|quase|simplesmente|muito|pessoalmente) ){0,2}',
  no: '(?:(?:não|nunca|jamais|nem|já não|quase nunca) )?(?:(?:me|te|se) )?',
  often:
    'normalmente|sempre|nunca|geralmente|habitualmente|usualmente|frequentemente|quase sempre|quase nunca|em geral|às vezes|raramente|regularmente|tod[oa]s? (?:os )?(?:dias?|manhãs?|noites?|semanas?|anos?|meses|mês|domingos?|segundas?|sábados?|fins de semana|fim de semana|as (?:manhãs|noites|tardes|semanas|segundas|terças|quartas|quintas|sextas))|cada (?:dia|manhã|noite|semana|mês|ano)|aos (?:domingos|sábados|fins de semana)|às (?:segundas|terças|quartas|quintas|sextas)(?:-feiras)?|nos fins de semana|de manhã|(?:uma vez|duas vezes|três vezes|\\p{L}+ vezes) (?:por|ao|na|a cada) (?:dia|semana|mês|ano)|durante a semana|diariamente|costumo',
  month: 'janeiro|fevereiro|março|abril|maio|junho|julho|agosto|setembro|outubro|novembro|dezembro',
  soon: 'amanhã|depois de amanhã|hoje à noite|est[ea] (?:fim de semana|verão|semana|mês|ano|noite)|nest[ea] (?:fim de semana|verão|semana|mês|ano)|em breve|(?:n?[oa]s? )?próxim[oa]s? \\p{L}+|(?:na |a )?semana que vem|(?:no |o )?(?:mês|ano|verão|sábado|domingo) que vem|n[ao] (?:segunda|terça|quarta|quinta|sexta|sábado|domingo)(?:-feira)?|em (?:{month}|20\\d\\d|\\p{L}+ (?:dias|semanas|meses|anos))|no (?:verão|outono|inverno|natal|começo de|início de|final de|fim de)|daqui a',
  errand:
    '(?:testar|tentar|ver|enviar|mandar|colar|compartilhar|mostrar|verificar|dizer|fazer (?:isso|isto)|te|dar|perguntar|explicar|precisar|copiar|colocar|rodar|executar|olhar|checar|corrigir|arrumar|adicionar|ler|esperar|passar|experimentar)(?!\\p{L})',
})

/** First-person present of the verbs that people tell their days with; -o alone would match nouns. */
const daily =
  'como|bebo|tomo|janto|almoço|durmo|acordo|levanto|deito|saio|corro|caminho|ando|vou|vamos|trabalho|estudo|leio|escrevo|cozinho|ouço|escuto|vejo|assisto|jogo|treino|malho|faço|uso|ligo|visito|nado|medito|viajo|compro|levo|toco|pratico|começo|termino|passeio|comemos|jantamos|saímos|fazemos|reviso|peço|evito|dirijo|limpo|falo|pedalo'

export const PORTUGUESE_GRAMMAR: Grammar = {
  language: 'pt',
  languageHint:
    /(?<!\p{L})(?:o|os|as|e|é|meu|minha|um|uma|com|por|para|eu|muito|mas|em|do|da|no|na|não|ao|sou|gosto|moro|você|dos|das|tem)(?!\p{L})|ção|ã|õ|nh|lh/giu,
  firstPerson:
    /(?<!\p{L})(?:eu|meus?|minhas?|noss[oa]s?|me|mim|nós|a gente|sou|somos|estou|estamos|tenho|temos|vou|vamos|nasci|decidi|escolhi|\p{L}{1,12}o|\p{L}{2,12}mos|\p{L}{2,12}e?i)(?!\p{L})/iu,
  discourse: opening(
    '(?:oi|olá|bom dia|boa tarde|boa noite|ok|tá|bom|bem|então|e|mas|também|além disso|olha|aliás|a propósito|por sinal|sim|obrigad[oa]|valeu|ótimo|legal|perfeito|na verdade|sinceramente|pra (?:você )?saber|para referência|lembre que|lembre-se (?:de )?que|só pra constar|nota|de fato|claro|pois|porque|ah|embora)[\\s,:!–—-]*(?=\\p{L}|$)',
  ),
  lead: opening(
    'n?[oa]s? próxim[oa]s?|próxim[oa]s?|semana que|amanhã|depois|hoje|est[ea]|nest[ea]|em|no|na|nos|nas|tod[oa]s?|cada|por|para|pra|desde|antes|durante|quando|normalmente|sempre|geralmente|habitualmente|usualmente|frequentemente|às|aos|ao|quase|de|com|atualmente|agora|ultimamente|finalmente|logo|daqui|entre|como|há|sobre|nunca|raramente|uma vez|duas vezes|originalmente|profissionalmente|após|pessoalmente|o mês|o ano|à|a partir|dia',
  ),
  anchor: /(?<![\p{L}\p{N}])\p{L}/gu,
  boundary:
    /[,:(–—](?:\s*(?:e|mas|porém|então|além disso|também|só que|enquanto|porque|embora)\s)?|(?<=\s)(?:-\s|(?:e|mas|porém|então|só que)\s)|(?<=\s)(?=(?:você pode|pode me|poderia)\s)/giu,
  subject: opening('eu|nós|a gente'),
  request: opening(
    '(?:(?:e|então|mas|por isso) )?(?:por favor|você (?:pode|poderia|consegue)|pode(?:ria)?(?:s)? (?:me|por)|me (?:recomenda|ajuda|dá|diz|sugere|indica|mostra|explica)|o que|qual|quais|como (?:posso|faço|devo|eu)|onde|quando (?:devo|posso)|quem|por que|quanto|tem algum|há algum|recomende|sugira|ajude|explique|mostre|escreva|diga|devo|né|certo\\?|não é|(?:alguma |algumas )?(?:dicas?|ideias?|sugest(?:ão|ões)|recomendaç(?:ão|ões))(?=\\s*$))',
  ),
  nonStatement: opening(
    'se|talvez|quem sabe|suponha|supondo|suponhamos|imagine|imagina|digamos|caso|quem dera|tomara|oxalá|provavelmente|possivelmente|é possível|pode ser que|o que|que|qual|quais|como (?:posso|faço|devo|eu)|onde|quem|por que|quanto|devo|posso|poderia|deveria|será que|escreva|traduza|finja|aja|(?:é|está|são|tem|pode) (?:meu|minha)',
  ),
  questionEnd: NEVER_MATCHING,
  attribution: anywhere(
    '(?:diz|dizem|disse|disseram|acha|acham|achou|pensa|pensam|acredita|afirma|contou|comentou|supõe|insiste|escreveu|perguntou|falou|fala)(?: (?:sempre|pra \\p{L}+))? (?:que|se)|segundo (?:o|a|meu|minha|ele|ela)|me (?:disse|disseram|falou|falaram)|(?:disse|gritou|escreveu) (?:meu|minha|o|a|ele|ela)|supostamente|parece que|pelo visto',
  ),
  condition: anywhere('se (?:eu|der|puder|conseguir|tudo|for|tiver|não)|caso|a menos que'),
  chatter: opening(
    '{eu}{no}tenho (?:uma?|o|a|este|esta|esse|essa|outr[oa]|algumas?|alguns|vári[oa]s|que)?\\s?(?:perguntas?|problemas?|erros?|dúvidas?|ideia|código|script|arquivo|bug|que|certeza)',
    '{eu}{no}est(?:ou|amos) (?:recebendo|tentando|a tentar|tendo|usando|vendo|procurando|fazendo (?:um|isso|o)|obtendo|certo|certa|confus[oa]|testando|de acordo|pront[oa]|perdid[oa]|trabalhando n|escrevendo|rodando|executando|com (?:um|uma|dúvida|problema))',
    '{eu}{no}(?:vou|vamos) (?:{errand})',
    '{eu}sou (?:um |uma )?(?:nov[oa]|pouco|burr[oa]|desastre)',
    '{eu}{no}(?:entendo|entendi|sei|quero (?:saber|que|ver|entender)|preciso|acho|penso que|gostei|gostaria|consigo|adorei|amei)',
    '{eu}{no}(?:sempre|geralmente|normalmente) (?:recebo|dá|aparece|tenho (?:este|esse|o|um) )',
  ),
  deictic:
    /^[\s:]*(?:(?:d?est[aeo]s?|d?ess[ae]s?|disso|disto|isso|isto|(?:d[ao] )?su[ao]s?|d[ao] seu|da sua|teus?|tuas?|você|de você|como você|d?o que você|d?a (?:resposta|ideia|primeira|segunda|solução)|d?o (?:primeiro|segundo|código)|mais (?:d?est[ae]|d?ess[ae]))(?!\p{L}))/iu,
  negation: { within: 'cue', words: anywhere('não|nunca|jamais|nem|nenhum|nenhuma') },
  cues: [
    cue(
      'preference',
      '{eu}{no}(?:(?:sempre|também|mais) )?(?:gosto|gostamos|gosta) (?:muito |mais |mesmo |bastante |tanto |nada |nem um pouco )*(?:de|da|do|das|dos|dum|duma|quando)(?!sse)',
    ),
    cue(
      'preference',
      '{eu}(?:não |nunca |sempre )?(?:prefiro|preferimos|odeio|odiamos|detesto|detestamos|adoro|adoramos|amo|amamos|suporto|suportamos|aguento|evito|curto|curtimos|aprecio)(?: muito)?(?= \\S)',
    ),
    cue(
      'preference',
      '{eu}(?:não )?(?:sou|somos) (?:muito |um |uma |grande |super )*(?:fãs?|apaixonad[oa]|fanátic[oa]|viciad[oa]|amante|louc[oa]) (?:de|da|do|das|dos|por|pela|pelo|em|com)|{eu}(?:não )?(?:me interesso|tenho interesse|sempre gostei|nunca gostei|sempre amei)',
    ),
    cue(
      'preference',
      '{my} (?:[\\p{L}-]+ ){1,3}?(?:favorit[oa]s?|preferid[oa]s?|predilet[oa]s?)(?: [\\p{L}-]+){0,4} (?:é|são|era|sempre foi)|{my} (?:hobbys?|hobbies|passatempos?|paixão|paixões) (?:favorit[oa]s? )?(?:é|são)',
    ),
    cue(
      'preference',
      '(?!qual|que|isto|isso|esse|essa)[^,.:]{2,60}? (?:é|são) {my} (?:[\\p{L}-]+ ){0,2}(?:favorit[oa]s?|preferid[oa]s?)',
    ),
    cue(
      'decision',
      '{eu}{no}(?:decidi|decidimos|escolhi|escolhemos|optei|optamos|selecionei|resolvi|resolvemos|troquei|migrei|migramos|tenho decidido|tomei a decisão|mudei d[oe]|mudamos d[oe]|fiquei com|acabei escolhendo)(?: (?:não|por|que|usar|contra))?(?! (?:errado|o problema|isso))',
    ),
    cue(
      'decision',
      '{eu}(?:não )?(?:vou|vamos) (?:usar|utilizar|adotar|escolher|ficar com|optar|mudar para o (?:linux|mac)|migrar|parar de usar)|{eu}(?:não )?(?:usarei|usaremos|utilizarei|adotaremos)',
    ),
    cue(
      'relationship',
      '{my} (?:{kin})(?: (?:mais (?:velh[oa]|nov[oa])|caçula))?(?: (?!component)[\\p{L}-]+)?(?: não| também)? (?:se chamam?|chama-se|chamam?|é|são|era|está|estão|tem|têm|mora|moram|vive|vivem|trabalha|trabalham|faz|nasceu|estuda|fala|joga|morreu|odeia|prefere|come|bebe|vai|acabou de|gosta|gostam|ama|toca|adora)(?! (?:um erro|um problema|uma dúvida|tentando|perguntando|tendo|recebendo))',
    ),
    cue(
      'relationship',
      '{eu}(?:não )?(?:tenho|temos) (?:(?:uma?|dois|duas|três|quatro|cinco|\\d+|vári[oa]s|nenhum|nenhuma|muitos) )?(?:{family}|{pets})',
    ),
    cue(
      'relationship',
      '{eu}(?:não )?(?:sou|estou|somos|estamos) (?:feliz |recém-?)?(?:casad[oa]s?|divorciad[oa]|solteir[oa]|viúv[oa]|separad[oa]|noiv[oa]s?|namorando|filh[oa] únic[oa]|mãe|pai|avó|avô)',
    ),
    cue(
      'relationship',
      '(?!quem|qual|isto|isso|esse|essa)\\p{L}[^,.:]{1,40}? (?:é|são) {my} (?:melhor(?:es)? )?(?:{kin})|o (?:nome|aniversário) d[ao]s? (?:meus?|minhas?) (?:{kin}) é',
    ),
    cue(
      'fact',
      '{eu}(?:me chamo|chamo-me)|{my} (?:nome|sobrenome|apelido)(?: completo)? é|(?:pode(?:m)? )?me cham(?:ar?|e|am) (?:de )?',
      CRITICAL_IMPORTANCE,
    ),
    cue(
      'fact',
      '{eu}(?:não )?sou (?:muito )?(?:alérgic[oa]|intolerante|celíac[oa]|diabétic[oa]|asmátic[oa]|epiléptic[oa])|{eu}(?:não )?(?:tenho|sofro)(?: de)? (?:uma )?(?:alergia|intolerância|diabetes|asma|tdah|enxaquecas?|epilepsia|depressão|ansiedade|dislexia|hipertensão|pressão alta|autismo|insônia)',
      CRITICAL_IMPORTANCE,
    ),
    cue(
      'fact',
      '{eu}tenho (?:\\d{1,3}|[\\p{L}]+(?: e \\p{L}+)?) anos|{eu}(?:acabei de (?:fazer|completar)|fiz|completei) (?:\\d+|\\p{L}+) anos',
    ),
    cue(
      'fact',
      '{eu}(?:não )?(?:moro|moramos|vivo|vivemos|resido)(?: mais)? (?:em|no|na|nos|nas|perto|com|sozinh[oa]|atualmente|fora|num|numa)|{eu}(?:nasci|cresci|venho d[eoa])|{eu}(?:não )?(?:sou|somos) (?:natural )?(?:de|do|da|dos|das)(?! (?:acordo|opinião))|{eu}(?:moro|trabalho|vivo) ',
    ),
    cue(
      'fact',
      '{eu}(?:não )?(?:trabalho|trabalhamos) (?!n(?:est|ess|um script|um projeto))(?:como|de|em|no|na|num|numa|para|pra|por|com|remoto)|{eu}(?:não )?(?:estudo|ensino|dou aulas?|leciono|me formei|formei-me|faço (?:faculdade|mestrado|doutorado|engenharia|medicina|direito|estágio))|{eu}(?:não )?estou (?:aposentad[oa]|estudando|a estudar|grávida|desempregad[oa]|fazendo (?:mestrado|doutorado|faculdade|uma pós))',
    ),
    cue(
      'fact',
      '{eu}(?:não )?(?:falo|falamos) (?!(?:de|com|sobre|por|disso)(?!\\p{L}))|{eu}(?:não|já não|só) (?:como|bebo|fumo|tomo|comemos|dirijo|posso comer)',
    ),
    cue(
      'fact',
      '{my} (?:[\\p{L}]+ )?(?:aniversário|e-?mail|telefone|celular|telemóvel|número(?: de telefone)?|endereço|morada|cidade(?: natal)?|fuso horário|pronomes|profissão|trabalho|emprego|empresa|nacionalidade|língua (?:materna|nativa)|idioma nativo|tipo sanguíneo|altura|peso|idade|curso|signo|cep|carro) (?:é|são|era)',
    ),
    cue(
      'fact',
      '{eu}(?:não )?sou (?!(?:muito|tão|quem|capaz|eu|mais)(?!\\p{L}))(?:um |uma |o |a )?(?=\\p{L}{3})',
    ),
    cue(
      'event',
      '{eu}(?:não )?(?:pretendo|pretendemos|planejo|planejamos|penso em|pensamos em|tenciono|tenho planos?)|{eu}(?:não )?est(?:ou|amos) (?:planejando|a planear|planeando|organizando|pensando em)|{eu}(?:reservei|reservamos|comprei (?:as )?passage(?:m|ns))|{my} (?:plano|meta|objetivo|sonho) é',
    ),
    cue(
      'event',
      '(?:{soon}),? {eu}{no}(?:vou|vamos|viajo|viajamos|voo|saio|começo|tenho|temos|mudo|mudamos|caso|casamos|visito|visitamos|apresento|entrego|faço|comemoro|estarei|irei|viajarei|terei|começarei)(?! (?:me )?(?:{errand}))',
    ),
    cue(
      'event',
      '{eu}{no}(?:vou|vamos|viajo|viajamos|voo|saio|começo|tenho|mudo|mudamos|caso|casamos|aposento|visito|visitamos|apresento|\\p{L}+(?:arei|erei|irei|aremos|eremos|iremos))(?! (?:me )?(?:{errand}))(?=[^?]{0,100}?\\s(?:{soon})(?!\\p{L}))',
    ),
    cue(
      'event',
      '{eu}(?:não )?(?:vou|vamos) (?:me |nos )?(?:mudar|casar|viajar|visitar|aposentar|ter um (?:bebê|filho)|formar|comprar (?:um|uma)|começar um novo|correr (?:um|uma|a) )',
    ),
    cue(
      'event',
      '{my} (?:voo|casamento|prova|exame|cirurgia|consulta|viagem|entrevista|mudança|formatura) (?:é|sai|começa)|{eu}quero (?:aprender(?! (?:como|por))|me mudar|mudar|viajar|comprar (?:uma casa|um carro)|casar|correr uma)',
    ),
    cue(
      'pattern',
      '(?:{often}),? {eu}{no}(?!sou|estou|tenho um erro|recebo|obtenho|quis|isso|isto)(?:\\p{L}{1,12}o|vou|dou|\\p{L}{2,10}mos)',
    ),
    cue('pattern', '{eu}(?:não )?(?:costumo|costumamos|tenho (?:o costume|o hábito)|tendo a)'),
    cue(
      'pattern',
      `{eu}{no}(?:(?:sempre|nunca|normalmente|geralmente) )?(?:${daily})(?=[^?]{0,100}?\\s(?:{often})(?!\\p{L}))`,
    ),
    cue(
      'pattern',
      `(?:eu )?(?:sempre|nunca|quase nunca|quase sempre|normalmente|geralmente|raramente|jamais) (?:me )?(?:${daily})`,
    ),
    // Transitions and lasting facts in general.
    cue(
      'fact',
      '(?:(?:eu|nós|já|finalmente|ontem|hoje|este ano|na semana passada|em \\p{L}+),? )*(?:(?:me|nos) (?:mudei|mudamos|casei|casamos|divorciei|separei|separamos|aposentei|formei|demiti|inscrevi|chamo)|(?:mudei|mudámos|casei|divorciei|separei|reformei)-?(?:me|nos)?|deixei|deixamos|larguei|comecei|começamos|começo|comprei|compramos|comprámos|vendi|vendemos|adotei|adotamos|tive|tivemos|terminei|acabei|passei|perdi|ganhei|consegui|aluguei|alugamos|abri|fundei|fiz|faço \\d+|pedi demissão|parei|troquei|entrei|saí|virei|cancelei|adiei|fui (?:promovid[oa]|demitid[oa]|contratad[oa]|diagnosticad[oa]|operad[oa])|estou (?:grávida|estudando|a estudar|tomando|a tomar|trabalhando|de licença|noiv[oa]|treinando))(?= |$)',
    ),
    cue(
      'fact',
      '(?:o |a |os |as )?(?:meus?|minhas?|noss[oa]s?) (?!(?:pergunta|problema|código|erro|dúvida|programa|texto|ideia|opinião) )(?:[\\p{L}-]+ ){0,4}?[\\p{L}-]+ (?:é|são|está|estão|era|tem|têm|se chama|chama-se|custa|começa|termina|mora|trabalha|nasceu|morreu|teve|toma|come|usa|mudou|subiu|vence|dura|estuda|joga|vai|vem|precisa|não (?:come|pode|bebe|toma|tolera))(?= )',
    ),
    cue(
      'fact',
      '(?:eu )?(?:tomo|uso|dirijo|conduzo|jogo|toco|estudo|tenho|temos|treino|canto|coleciono|ganho|pago|pagamos|alugo|pratico|ensino|cuido|crio|trabalho|trabalhamos|moro|moramos|vivo|vivemos|sou|somos|estou (?:em|no|na|há|casad[oa]|desempregad[oa]|aposentad[oa])|ando (?:de|a))(?! (?:uma pergunta|um problema|um erro|uma dúvida|que|isto|isso|vontade|ideia))(?= )',
    ),
    cue(
      'fact',
      '{eu}(?:estou|tô|to) (?:grávida|gestante|fazendo (?:faculdade|um curso|mestrado|doutorado)|de (?:dieta|férias|licença))',
    ),
    cue('event', 'a gente (?:se )?(?:casa|muda|viaja)(?=.{0,60}(?:em|no|na|mês|ano|semana))'),
  ],
}
