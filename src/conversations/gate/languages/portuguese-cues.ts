/** Portuguese, of Brazil and of Portugal. */
import { createSpacedCueNotation } from '../cue-notation.ts'
import type { CueTable } from '../types.ts'

const { cue, opening } = createSpacedCueNotation({
  my: 'meus?|minhas?|nossos?|nossas?',
  past: 'ontem|anteontem|outro dia|(?:d?a )?outra vez|(?:d?a )?última vez|há (?:\\S+ )?(?:pouco|tempo|dias?|semanas?|m[eê]s(?:es)?|anos?)|\\S+ (?:dias?|semanas?|meses|anos?) atrás|(?:na |da )?(?:semana|segunda|terça|quarta|quinta|sexta) passada|(?:no |do )?(?:mês|ano|sábado|domingo) passado|antes|anteriormente|recentemente',
  agreed:
    'decidimos|conversamos|falamos|combinamos|discutimos|planejamos|planeamos|escolhemos|vimos|descartamos|resolvemos|acordamos|paramos|ficamos|definimos|tínhamos (?:\\S+ )?(?:decidido|combinado|falado)|a gente (?:\\S+ )?(?:decidiu|conversou|falou|combinou|discutiu|planejou|escolheu|parou|resolveu|definiu)',
  you: '(?:você|tu|vc)?\\s?(?:já )?me (?:\\S+ )?(?:indicou|recomendou|disse|contou|sugeriu|mencionou|aconselhou|falou|prometeu|tinha (?:dito|recomendado|indicado|sugerido))|recomendaste|disseste-me|sugeriste|mencionaste|(?:você|vc) (?:\\S+ )?(?:mencionou|recomendou|sugeriu|indicou)',
  leisure:
    'restaurantes?|cafés?|filmes?|séries?|livros?|romances?|receitas?|pratos?|jantar(?:es)?|almoço|refeiç(?:ão|ões)|sobremesas?|vinhos?|presentes?|prendas?|hot(?:el|éis)|viage(?:m|ns)|destinos?|férias|músicas?|álbuns?|álbum|playlist|podcasts?|jogos?|hobb(?:y|ies)|passeios?|atividades?|trilhas?|shows?|concertos?|cursos?',
  work: 'código|funç(?:ão|ões)|script|programa|consulta|testes?|classe|variáve(?:l|is)|laço|loop|método|regex|repositório|branch|commit|servidor|contêiner|docker|git|api|aplicativo|aplicação|banco de dados|tabela|coluna|arquivos?|ficheiros?|pasta|pacote|biblioteca|framework|módulo|componente|algoritmo|erros?|bug|redação|parágrafo|frase|rascunho|lição|equação|fórmula|demonstração|solução|python|java|javascript|sql|css|html|computador|navegador|entrada|saída|comando',
})

export const PORTUGUESE_CUES: CueTable = {
  language: 'pt',
  void: opening(
    '(?:e |mas )?(?:se (?:eu|você|te|a gente)|suponha|imagine|imagina)',
    '(?:por favor,? |e )?(?:lembre-se|lembra-te|não (?:se )?esqueça|não te esqueças|não esquece|tenha em mente|anote|anota|guarde|guarda)',
    '(?:traduz|traduza|corrige|corrija|reescreve|reescreva)',
  ),
  ownWords: [
    cue(
      '(?:procura|procure|acha|ache|encontra|encontre|mostra|mostre) (?:\\S+ ){0,2}?(?:mensagem|nota|texto) (?:em que|onde|na qual) (?:eu )?',
    ),
    cue(
      'minhas (?:próprias )?palavras (?:exatas|textuais|literais)|minhas próprias palavras',
      'com minhas|com as minhas',
    ),
    cue(
      '(?:cita|cite|repete|repita|copia|copie) (?:\\S+ ){0,3}?(?:o que|as palavras que|a mensagem que) (?:eu )?(?:te |lhe )?(?:disse|escrevi|contei|falei|mandei)',
    ),
    cue(
      '(?:o )?que (?:foi que |é que )?(?:eu )?(?:te )?(?:disse|escrevi|falei) (?:\\S+ )?(?:exatamente|literalmente|palavra por palavra|sobre)',
      '{work}',
    ),
    cue(
      'como (?:foi que )?eu (?:formulei|expressei|escrevi)|(?:mostra|mostre|acha|me dá) (?:\\S+ ){0,3}?(?:mensagem|texto|frase) que eu te',
    ),
  ],
  whoAmI: [
    cue('que tipo de pessoa (?:\\S+ ){0,5}?(?:eu sou|sou eu|sou)|como (?:eu )?sou(?! \\S)'),
    cue(
      '(?:guardad[oa]s?|anotad[oa]s?|armazenad[oa]s?|salv[oa]s?|sabe|tem|lembra) (?:\\S+ ){0,3}?(?:a meu respeito|sobre mim|sobre a minha pessoa)',
    ),
    cue(
      'qual (?:é|é mesmo) (?:o )?meu (?:primeiro )?nome|como (?:eu )?me chamo|como é que (?:eu )?me chamo|sabe (?:o )?meu nome',
    ),
    cue('quem (?:sou eu|eu sou)|quem é que eu sou'),
    cue(
      '(?:sabe|sabes|lembra|lembras|conhece|aprendeu|guardou|guardaste|aprendeste) (?:\\S+ ){0,2}?(?:sobre|de|a respeito de|acerca de) mim|(?:conta|conte|fala|fale|diga|diz)(?:-me)? (?:\\S+ ){0,6}?(?:sobre|de) mim|me descreva|descreve-me|você me conhece',
    ),
    cue(
      'quantos anos (?:eu )?tenho|que idade (?:eu )?tenho|qual (?:é )?(?:a )?minha idade|quando (?:eu )?nasci',
    ),
    cue(
      'onde (?:é que )?(?:eu )?(?:trabalho|moro|vivo|nasci)|de onde (?:eu )?sou|em que (?:cidade|país|empresa) (?:eu )?(?:moro|trabalho|vivo)',
    ),
    cue(
      'qual (?:é )?(?:o )?(?:meu|minha) (?:trabalho|emprego|profissão|cargo)|(?:com )?o que (?:é que )?eu (?:trabalho|faço da vida)|que (?:idiomas|línguas) (?:eu )?falo',
    ),
    cue('(?:biografia|bio|perfil|apresentação) (?:minha|sobre mim|de mim)'),
  ],
  earlierTalk: [
    cue(
      '(?:a gente|nós) já |já (?:\\S+ )?[\\p{L}]{3,}(?:amos|emos|imos)(?![\\p{L}])',
      '{work}|podemos|vamos|somos',
    ),
    cue(
      '(?:no|em) que (?:deu|ficou|resultou|acabou)|como (?:ficou|acabou|terminou) (?:a|o|aquela|aquele)|até onde (?:a gente )?(?:chegamos|chegou|fomos)|a que conclusão',
    ),
    cue(
      '(?:que|qual|quais|como|onde|quando|por que) (?:\\S+ ){0,5}?(?:a gente (?:\\S+ )?(?:tinha|estava|ia|fez|[\\p{L}]{2,}(?:ou|eu|iu))|(?!\\S*ríamos)[\\p{L}]+(?:ávamos|íamos|ínhamos))(?![\\p{L}])',
      '{work}',
    ),
    cue(
      '(?:como|por que|a que|que) (?:\\S+ ){0,3}?(?:chegamos|pensamos|propusemos|fizemos|dissemos|anotamos)',
    ),
    cue(
      '(?:continua|continue|continuar|retoma|segue|seguir) (?:\\S+ ){0,6}?(?:ontem|última vez|estava|nossa)',
    ),
    cue(
      '(?:você|vc|tu) (?:\\S+ )?(?:tinha (?:me )?(?:dito|falado|pedido|recomendado|sugerido)|disse que|falou que|falou para|pediu para|queria que eu)|tinhas-me dito',
    ),
    cue(
      '(?:que|quê|qual|quais|onde|como|quando|por que|sobre o que|do que|porque) (?:\\S+ ){0,3}?(?:{agreed})',
    ),
    cue('(?:{past}),? (?:\\S+ ){0,3}?(?:{agreed})'),
    cue(
      'de onde (?:a gente )?par(?:amos|ou)|(?:continuar|continuemos|retomar|retomemos) (?:de onde|a conversa|nossa|a nossa)|(?:nossa|a) (?:última|anterior) (?:conversa|sessão)|(?:conversa|sessão) (?:anterior|passada|de ontem)|como da última vez',
    ),
    cue('(?:{you})', '{work}'),
    cue(
      '(?:{past}),? (?:você|vc|tu)?\\s?me (?:deu|disse|mostrou|escreveu|explicou|enviou|ajudou)|me (?:deu|mostrou|escreveu|explicou|ajudou) (?:\\S+ ){0,6}?(?:{past})',
      '{work}',
    ),
    cue(
      'como (?:eu )?(?:já )?(?:te |lhe )?(?:disse|comentei|mencionei|contei|falei|expliquei|havia dito|tinha dito)',
    ),
    cue(
      '(?:lembra(?:s|-se|-te)?|recorda(?:s)?) (?:-te )?(?:de )?(?:quando|aquel[ae]|daquel[ae]|da vez|do que a gente|nossa|o que a gente)',
    ),
  ],
  ownPast: [
    cue(
      '(?:quando|onde|quant[oa]s?|qua(?:l|is)|com quem|que) (?:\\S+ ){0,8}?(?!\\S*(?:arei|erei|irei))(?!sei|lei|rei)[\\p{L}]{2,}ei(?![\\p{L}])',
      '{work}|errado|errei|saberei|aqui',
    ),
    cue(
      '(?:quando|onde|quantas vezes|quantos \\S+|quantas \\S+|quanto|que|com quem) (?:\\S+ ){0,3}?(?:eu )?(?:fui|comprei|comi|visitei|estive|paguei|corri|li|assisti|liguei|viajei|comecei|conheci)',
      '{work}|errado',
    ),
    cue('última vez que (?:eu )?(?:fui|fiz|estive|comi|vi|comprei|tomei)'),
    cue(
      '(?:eu )?(?:já )?te (?:contei|falei|disse) (?:\\S+ ){0,3}?(?:alguma vez|qual|que)',
      '{work}',
    ),
  ],
  ownFact: [
    cue(
      '(?:qual|quem|quando|onde|que|quant[oa]s?) (?:\\S+ ){0,6}?(?:meu|minha)s? (?:[\\p{L}]+ )?(?:mulher|esposa|marido|esposo|parceir[oa]|namorad[oa]|mãe|pai|pais|filh[oa]s?|irmã[os]?|irmãos|av[óô]|ti[oa]|prim[oa]|chefe|cachorr[oa]|gat[oa]|amig[oa]s?)',
      '{work}|devo|deveria',
    ),
    cue(
      '(?:como|qual|que|quem|onde) (?:era|é|foi|se chamava|se chama) mesmo|mesmo(?! \\S)(?<=(?:qual|como|onde|quem) (?:\\S+ ){0,8}mesmo)',
      '{work}',
    ),
    cue('(?:a gente|eu|nós) sempre (?:vai|vou|vamos|pede|peço|compra|compro)|(?:vou|vamos) sempre'),
    cue('(?:você )?(?:conhece|sabe) (?:(?:os )?meus gostos|do que eu gosto|o que eu gosto)'),
    cue(
      '(?:qual|quais|quem|quando|onde|como|quantos anos|quantas?|quantos?|o que) (?:é que )?(?:é|são|era|eram|foi|se chama|se chamam|chama|mora|moram|vive|trabalha|tem|têm|faz|será) (?:(?:o|a|os|as) )?(?:(?:\\S+ )?\\S+ d[oa]s? )?(?:{my}) ',
      '{work}|problema|melhor',
    ),
    cue(
      '(?:lembra(?:s)?|recorda|sabe(?:s)?|conhece(?:s)?) (?:\\S+ ){0,6}?(?:{my}) ',
      '{work}|por que|porque',
    ),
    cue('você (?:ainda )?(?:se )?lembra|ainda te lembras|lembras-te'),
    cue(
      '(?:sou|tenho) (?:\\S+ )?(?:alérgic[oa]|alergia) a (?:alguma|algo|quê|que)|tenho (?:alguma )?alergia',
    ),
    cue(
      '(?:que|qual|quais) (?:\\S+ ){0,4}?(?:eu (?:costumo|prefiro|gosto|odeio|uso normalmente))',
      '{work}',
    ),
    cue('de sempre|o de sempre|(?:meu|minha|o|a) \\S+ habitual|como sempre(?! \\S)'),
  ],
  advice: [
    cue(
      'combin(?:a|aria|am) com (?:a |o )?(?:nossa|minha|meu|nosso)|(?:para|pra) (?:a )?(?:nossa|minha) família',
    ),
    cue(
      '(?:acha|ache|procura|procure|encontra|indica|indique)(?:-me)? (?:\\S+ ){1,4}?perto (?:de casa|da minha|do meu|daqui|de mim)',
    ),
    cue(
      'combin(?:a|aria|am) comigo|(?:ficaria|cairia|serviria|seria) (?:bem|bom|melhor) (?:em|para|pra) mim',
      '{work}',
    ),
    cue(
      '(?:o que|que roupa|que \\S+) (?:eu )?(?:visto|uso|calço) (?:\\S+ ){0,3}?(?:para|na|no|pra|amanhã|hoje)',
      '{work}',
    ),
    cue(
      '(?:o )?que (?:\\S+ ){0,2}?(?:posso|poderia|podemos|poderíamos|devo|deveria|vou|podia) (?:\\S+ )?(?:cozinhar|comer|jantar|vestir|usar|assistir|ver|ler|dar de presente|fazer (?:neste|nesse|no|este|hoje|amanhã) (?:fim|fds|sábado|domingo|noite)|preparar|pedir|beber|ouvir|levar|fazer (?:de|para o|pro) jantar)',
      '{work}',
    ),
    cue(
      '(?:o )?que (?:eu )?(?:dou|compro|ofereço) (?:de presente )?(?:para|pro|pra|ao|à)|(?:o )?que (?:eu )?(?:cozinho|como hoje|visto|leio|assisto)',
      '{work}',
    ),
    cue(
      '(?:para onde|aonde|onde) (?:é que )?(?:\\S+ )?(?:posso|poderia|podemos|poderíamos|devo|deveríamos|vamos|devemos) (?:\\S+ )?(?:ir|viajar|comer|jantar|comemorar|ficar)',
      '{work}',
    ),
    cue(
      '(?:recomenda|recomende|recomendar|recomendaç(?:ão|ões)|indica|indique|sugere|sugira|sugest(?:ão|ões)|sugerir|ideias?|dicas?|procura|acha)(?:-me|-nos)? (?:\\S+ ){0,5}?(?:{leisure})',
      '{work}',
    ),
    cue(
      '(?:recomenda|recomende|indica|indique|sugere|sugira|ideias?|dicas?)(?:-me)? (?:\\S+ ){0,8}?(?:para mim|pra mim|para nós|que eu (?:vá|possa|vou|goste|iria|gostaria)|(?:para|pra|pro) (?:o |a )?(?:{my}))',
      '{work}',
    ),
    cue(
      '(?:eu )?(?:vou|iria|vá) gostar (?:d|\\S+\\?)|alguém como eu|meus? gostos?|minha dieta|meu orçamento|combina comigo',
    ),
    cue('(?:presentes?|prendas?) (?:\\S+ ){0,3}?(?:para|pra|pro|ao|à) (?:o |a )?(?:{my})'),
    cue(
      '(?:planeja|planeje|planeia|organiza|organize|monta|monte|cria|crie|faz|faça)(?:-me)? (?:\\S+ ){0,4}?(?:fim de semana|viagem|férias|cardápio|treino|rotina|dieta|lista de compras|plano de)',
    ),
    cue(
      '(?:reserva|reserve|pede|peça|compra|compre)(?:-me)? (?:a |o |uma )?(?:minha|meu|nossa|mesa|mim)|me (?:reserva|reserve|pede|compra)',
    ),
    cue('posso (?:comer|beber|tomar) (?:isto|isso|este|esta|esse|essa)'),
    cue('(?:devo|deveria) (?:aceitar|largar|mudar|comprar)', '{work}'),
  ],
}
