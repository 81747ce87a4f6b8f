/** Spanish. The subject is usually left out, so the verb form itself is the cue. */
import { CRITICAL_IMPORTANCE, createSpacedNotation, NEVER_MATCHING } from '../grammar-notation.ts'
import type { Grammar } from '../types.ts'

const { opening, anywhere, cue } = createSpacedNotation({
  family:
    'mujer|esposa|esposo|marido|pareja|novi[oa]|prometid[oa]|hij[oa]s?|niñ[oa]s?|beb[eé]|gemel[oa]s|madre|mam[aá]|padre|pap[aá]|padres|herman[oa]s?|abuel[oa]s?|t[ií][oa]s?|prim[oa]s?|sobrin[oa]s?|suegr[oa]s?|niet[oa]s?|cuñad[oa]s?',
  pets: 'perr[oa]s?|perrit[oa]s?|gat[oa]s?|gatit[oa]s?|mascotas?|loro|hámster|conejos?|caballos?|tortugas?',
  others:
    'jef[ea]|colegas?|compañer[oa]s?(?: de (?:trabajo|piso|cuarto))?|vecin[oa]s?|amig[oa]s?|mejor(?:es)? amig[oa]s?|terapeuta|casero|profesora?|médic[oa]|ex|soci[oa]',
  kin: '{family}|{pets}|{others}',
  my: 'mis?|nuestr[oa]s?',
  yo: '(?:(?:yo|nosotr[oa]s|a m[ií]|a nosotros|personalmente) )?(?:(?:también|siempre|realmente|la verdad|ya|ahora|actualmente|todavía|sólo|solo|sí|casi) ){0,2}',
  no: '(?:(?:no|nunca|jamás|tampoco|ya no|casi nunca) )?',
  often:
    'normalmente|siempre|nunca|generalmente|habitualmente|usualmente|a menudo|casi siempre|casi nunca|por lo general|a veces|rara vez|frecuentemente|regularmente|todos los (?:días|lunes|martes|miércoles|jueves|viernes|sábados|domingos|veranos|años|meses|fines de semana)|todas las (?:mañanas|tardes|noches|semanas)|cada (?:día|mañana|noche|tarde|semana|mes|año|verano|domingo|lunes|fin de semana)|los (?:lunes|martes|miércoles|jueves|viernes|sábados|domingos|fines de semana)|por las (?:mañanas|tardes|noches)|(?:una vez|dos veces|tres veces|\\p{L}+ veces) (?:al|por|a la) (?:día|semana|mes|año)|entre semana|a diario|diariamente',
  month: 'enero|febrero|marzo|abril|mayo|junio|julio|agosto|septiembre|octubre|noviembre|diciembre',
  soon: 'mañana|pasado mañana|esta (?:noche|tarde|semana)|este (?:fin de semana|verano|otoño|invierno|mes|año|lunes|martes|miércoles|jueves|viernes|sábado|domingo)|pronto|(?:la|el|los) próxim[oa]s? \\p{L}+|próximamente|la semana que viene|el (?:mes|año|verano|lunes|martes|miércoles|jueves|viernes|sábado|domingo) que viene|el (?:lunes|martes|miércoles|jueves|viernes|sábado|domingo)(?! pasado)|en (?:{month}|20\\d\\d|verano|otoño|invierno|primavera|navidad|\\p{L}+ (?:días|semanas|meses|años))|a (?:principios|finales|mediados) de|dentro de',
  errand:
    '(?:probar|intentar|ver|enviar|mandar|pegar|compartir|mostrar|revisar|decir|hacer(?:lo)?|darte|dar|preguntar|explicar|necesitar|copiar|poner|ejecutar|mirar|subir|comprobar|corregir|arreglar|añadir|leer|esperar|pasar(?:te|le)|enseñar)(?!\\p{L})',
})

/** First-person present of the verbs that people tell their days with; -o alone would match nouns. */
const daily =
  'como|bebo|tomo|desayuno|ceno|almuerzo|duermo|me (?:levanto|acuesto|despierto|ducho|quedo)|salgo|corro|camino|ando|voy|vamos|trabajo|estudio|leo|escribo|cocino|escucho|veo|juego|entreno|hago|uso|llamo|visito|nado|medito|viajo|compro|llevo|toco|practico|empiezo|termino|paseo|comemos|cenamos|salimos|hacemos|vemos|jugamos|reviso|pido|me tomo|evito|conduzco|monto|limpio|hablo'

export const SPANISH_GRAMMAR: Grammar = {
  language: 'es',
  languageHint:
    /(?<!\p{L})(?:el|los|las|y|es|mi|una|con|por|para|yo|muy|pero|en|del|al|soy|mis|gusta|vivo|[¿¡])(?!\p{L})|ñ|ción/giu,
  firstPerson:
    /(?<!\p{L})(?:yo|mis?|me|m[ií]|nos|nuestr[oa]s?|nosotros|soy|somos|estoy|estamos|tengo|tenemos|voy|vamos|he|hemos|nací|decidí|elegí|\p{L}{1,12}o|\p{L}{2,12}mos|\p{L}{2,12}[éí])(?!\p{L})/iu,
  discourse: opening(
    '(?:hola|buenas|buenos días|buenas (?:tardes|noches)|ok|vale|bueno|pues|y|e|pero|también|además|oye|mira|por cierto|sí|gracias|genial|perfecto|la verdad|sinceramente|para que (?:lo )?sepas|que sepas que|te cuento que|recuerda que|ten en cuenta que|dato|nota|personalmente|de hecho|en realidad|claro|bien|así que|porque|ah|eh|aunque)[\\s,:!–—-]*(?=\\p{L}|¡|$)',
  ),
  lead: opening(
    'la próxima|el próximo|los próximos|mañana|pasado|hoy|esta|este|en|el|la|los|las|todos|todas|cada|por|para|desde|después|antes|durante|cuando|normalmente|siempre|generalmente|habitualmente|usualmente|a menudo|a veces|casi|de|con|al|a|actualmente|ahora|últimamente|finalmente|pronto|dentro|entre|como|hace|sobre|nunca|rara|una vez|dos veces|originalmente|profesionalmente|tras|personalmente',
  ),
  anchor: /(?<![\p{L}\p{N}])\p{L}/gu,
  boundary:
    /[,:(–—](?:\s*(?:y|e|pero|aunque|así que|además|también|sin embargo|mientras que|porque)\s)?|(?<=\s)(?:-\s|(?:y|e|pero|aunque|así que)\s)|(?<=\s)(?=(?:puedes|podrías|me puedes)\s)/giu,
  subject: opening('yo|nosotr[oa]s'),
  request: opening(
    '(?:(?:y|así que|pero|entonces) )?(?:por favor|puedes|podrías|me (?:puedes|podrías|recomiendas|ayudas|das|dices|sugieres)|qué|cuál(?:es)?|cómo|dónde|cuándo|quién|por qué|cuánto|hay algún|dame|dime|recomiéndame|sugiéreme|ayúdame|explícame|muéstrame|escríbeme|escribe|haz|debería|no\\?|verdad|(?:algún |alguna |algunas )?(?:consejos?|ideas?|sugerencias?|recomendaci(?:ón|ones))(?=\\s*$))',
  ),
  nonStatement: opening(
    'si|ojalá|quizás?|tal vez|a lo mejor|supongamos|supón|suponiendo|imagina|imagínate|imaginemos|digamos|acaso|en caso de|puede que|es posible|probablemente|posiblemente|qué|cuál(?:es)?|cómo|dónde|cuándo|quién(?:es)?|por qué|cuánt[oa]s?|debería|debo|puedo|podría|escribe|traduce|finge|actúa|(?:es|está|son|tiene|puede) {my}',
  ),
  questionEnd: NEVER_MATCHING,
  attribution: anywhere(
    '(?:dice|dicen|dijo|dijeron|dijiste|dices|cree|creen|cree[sn]|creía|piensa|piensan|piensas|opina|asegura|afirma|contó|comentó|supone|insiste|escribió|preguntó)(?: (?:en|siempre|a \\p{L}+))? (?:que|si)|según|me (?:dijo|dijeron|dijiste)|dicen que|(?:dijo|gritó|escribió) (?:mi|el|la|él|ella)|supuestamente|al parecer',
  ),
  condition: anywhere('si|a menos que|siempre que'),
  chatter: opening(
    '{yo}{no}tengo (?:una?|el|la|este|esta|un pequeño|otra?|algun[oa]s?|vari[oa]s|que|muchas)?\\s?(?:pregunta|preguntas|problemas?|errore?s?|dudas?|idea|código|script|archivo|que|bug|la sensación|ganas)',
    '{yo}{no}estoy (?:recibiendo|intentando|tratando|teniendo|usando|viendo|buscando|haciendo|obteniendo|segur[oa]|confundid[oa]|probando|de acuerdo|list[oa]|atascad[oa]|trabajando en (?:est|un|una)|escribiendo|ejecutando)',
    '{yo}{no}(?:voy|vamos) a (?:{errand})',
    '{yo}soy (?:un|una)?\\s?(?:nuevo|nueva|poco|tonto|tonta|desastre|consciente|yo)',
    '{yo}{no}(?:entiendo|entendí|sé|quiero (?:saber|que|ver|entender)|necesito|creo|pienso que|me (?:sale|aparece|da|gustaría|refiero|parece))',
    '{yo}{no}(?:siempre|a menudo|normalmente) (?:recibo|obtengo|me (?:sale|da|aparece)|tengo (?:este|el|un))',
  ),
  deictic:
    /^[\s:]*(?:(?:est[aeo]s?|es[aeo]s?|aquell[ao]s?|tus?|cómo|lo que (?:dices|has)|la (?:respuesta|idea|primera|segunda|tercera|solución)|el (?:primero|segundo|código)|así|mucho (?:esta|este|tu)|más (?:esta|este|esa|ese)|te)(?!\p{L}))/iu,
  negation: { within: 'cue', words: anywhere('no|nunca|jamás|tampoco|ningún|ninguna') },
  cues: [
    cue(
      'preference',
      '{yo}{no}(?:(?:siempre|también) )?(?:me|nos) (?:ha (?:gustado|encantado)|han (?:gustado|encantado)|gustan?|encantan?|fascinan?|apasionan?|interesan?|chiflan?|flipan?|molestan?|disgustan?|agradan?|desagradan?|molan?|entusiasman?)(?= \\S)',
    ),
    cue(
      'preference',
      '{yo}{no}(?:prefiero|preferimos|odio|odiamos|detesto|adoro|adoramos|amo|amamos|aborrezco|soporto|soportamos|aguanto|evito|disfruto|disfrutamos|valoro)(?= \\S)',
    ),
    cue(
      'preference',
      '{yo}{no}soy (?:muy |un |una |gran |súper )*(?:fan|fanático|fanática|aficionad[oa]|amante|adicto|adicta|apasionad[oa]|devoto) |{yo}{no}(?:estoy|somos) (?:muy )?(?:enganchad[oa]|obsesionad[oa]|enamorad[oa]|fans)',
    ),
    cue(
      'preference',
      '{my} (?:[\\p{L}-]+ ){1,3}?(?:favorit[oa]s?|preferid[oa]s?)(?: [\\p{L}-]+){0,4} (?:es|son|era|siempre ha sido)|{my} (?:aficion(?:es)?|afición|hobbys?|hobbies|pasatiempos?|pasi(?:ón|ones)) (?:favorit[oa]s? )?(?:es|son)',
    ),
    cue(
      'preference',
      '(?!qué|cuál|esto|este|esta|eso)[^,.:]{2,60}? (?:es|son) {my} (?:[\\p{L}-]+ ){0,2}(?:favorit[oa]s?|preferid[oa]s?)',
    ),
    cue(
      'decision',
      '{yo}{no}(?:(?:he|hemos) (?:decidido|elegido|escogido|optado|seleccionado|cambiado|descartado)|decidí|decidimos|elegí|elegimos|escogí|escogimos|opté|optamos|me decidí|me he decidido|me (?:he )?(?:pasé|pasado)|nos (?:hemos )?pasado|cambié)(?: (?:no|por|a|de|que|usar|contra))?(?! (?:mal|el equivocado))',
    ),
    cue(
      'decision',
      '{yo}{no}(?:voy|vamos) a (?:usar|utilizar|adoptar|elegir|quedarme con|optar|cambiar a|pasarme a|dejar)|{yo}{no}(?:usaré|usaremos|utilizaré|utilizaremos|elegiré|adoptaremos|me quedo con|me quedaré con|nos quedamos con)',
    ),
    cue(
      'relationship',
      '{my} (?:{kin})(?: (?:mayor|menor|pequeñ[oa]|peque))?(?: (?!component)[\\p{L}-]+)?(?: no| también)? (?:se llaman?|es|son|era|está|están|tiene|tienen|vive|viven|trabaja|trabajan|cumple|nació|estudia|habla|juega|murió|odia|prefiere|come|bebe|va|acaba de|le gusta|ama|toca)(?! (?:un error|un problema|una duda|intentando|preguntando|teniendo|recibiendo))|a {my} (?:{kin})(?: \\p{L}+)? (?:no )?les? (?:gustan?|encantan?)',
    ),
    cue(
      'relationship',
      '{yo}{no}tengo (?:(?:una?|dos|tres|cuatro|cinco|\\d+|vari[oa]s|ningún|ninguna|muchos) )?(?:{family}|{pets})|{yo}{no}tenemos (?:(?:una?|dos|tres|cuatro|\\d+) )?(?:{family}|{pets})',
    ),
    cue(
      'relationship',
      '{yo}{no}(?:estoy|soy|estamos) (?:felizmente |recién )?(?:casad[oa]s?|divorciad[oa]|solter[oa]|viud[oa]|separad[oa]|prometid[oa]s?|comprometid[oa]s?|saliendo con|hij[oa] únic[oa]|madre|padre|mamá|papá|abuel[oa])',
    ),
    cue(
      'relationship',
      '(?!quién|qué|esto|este|esta|eso)\\p{L}[^,.:]{1,40}? (?:es|son) {my} (?:mejor(?:es)? )?(?:{kin})|el (?:nombre|cumpleaños) de {my} (?:{kin}) es',
    ),
    cue(
      'fact',
      '{yo}me (?:llamo|dicen)|mi (?:nombre|apellido|apodo)(?: completo)? es|(?:puedes |podéis |todos me )?ll[aá]m(?:ame|arme|an)',
      CRITICAL_IMPORTANCE,
    ),
    cue(
      'fact',
      '{yo}{no}soy (?:muy )?(?:alérgic[oa]|intolerante|celíac[oa]|diabétic[oa]|asmátic[oa]|epiléptic[oa])|{yo}{no}(?:tengo|padezco|sufro)(?: de)? (?:una )?(?:alergia|intolerancia|diabetes|asma|tdah|migrañas?|celiaquía|epilepsia|depresión|ansiedad|dislexia|hipertensión|autismo|insomnio)',
      CRITICAL_IMPORTANCE,
    ),
    cue(
      'fact',
      '{yo}tengo (?:\\d{1,3}|[\\p{L}]+(?: y \\p{L}+)?) años|{yo}(?:acabo de cumplir|cumplí|he cumplido) (?:\\d|\\p{L}+)',
    ),
    cue(
      'fact',
      '{yo}{no}(?:vivo|vivimos|resido|residimos) (?:en|cerca|con|sol[oa]|a|actualmente|por|fuera|al)|{yo}(?:nací|me crié|crecí|vengo de|provengo)|{yo}{no}(?:soy|somos) (?:originari[oa] )?(?:de|del)(?! (?:acuerdo|los que|las que))|{yo}(?:llevo|llevamos) [^,?]{2,30} (?:viviendo|trabajando|en)',
    ),
    cue(
      'fact',
      '{yo}{no}(?:trabajo|trabajamos) (?!en (?:est|un script|un proyecto|una función)|con (?:est|un))(?:como|de|en|para|desde|por|a|con|remoto|medio)|{yo}{no}(?:estudio|enseño|doy clases?|me dedico|me gradué|dirijo|tengo (?:un negocio|una empresa|un restaurante|una tienda))|{yo}estoy (?:jubilad[oa]|estudiando|embarazada|desemplead[oa]|en paro|retirad[oa]|haciendo (?:un|una|el|mi) (?:máster|doctorado|grado|carrera|curso|prácticas))',
    ),
    cue(
      'fact',
      '{yo}{no}(?:hablo|hablamos) (?!(?:de|con|sobre|por)(?!\\p{L}))|{yo}(?:no|ya no|sólo|solo) (?:como|bebo|fumo|tomo|comemos|conduzco|puedo comer)',
    ),
    cue(
      'fact',
      '{my} (?:[\\p{L}]+ )?(?:cumpleaños|correo(?: electrónico)?|e-?mail|teléfono|móvil|número(?: de teléfono)?|dirección|ciudad(?: natal)?|zona horaria|pronombres|profesión|trabajo|empresa|nacionalidad|lengua materna|idioma (?:nativo|materno)|grupo sanguíneo|talla|altura|peso|edad|carrera|signo|código postal|coche) (?:es|son|era)',
    ),
    cue(
      'fact',
      '{yo}{no}soy (?!(?:muy|tan|el que|la que|quien|capaz|mayor problema|más)(?!\\p{L}))(?:un |una |el |la )?(?=\\p{L}{3})',
    ),
    cue(
      'event',
      '{yo}{no}(?:pienso|planeo|pretendo|pensamos|planeamos|me propongo|tengo (?:pensado|previsto|planeado|la intención)|tenemos (?:pensado|previsto|planeado))(?! que| en (?:ti|eso))|{yo}{no}est(?:oy|amos) (?:planeando|planificando|organizando|preparando|pensando en)|{yo}(?:he|hemos) (?:reservado|comprado (?:los )?billetes)|{my} (?:plan|meta|objetivo|sueño) es',
    ),
    cue(
      'event',
      '(?:{soon}),? {yo}{no}(?:(?:me|nos) )?(?:voy|vamos|viajo|viajamos|vuelo|salgo|empiezo|tengo|tenemos|mudo|mudamos|caso|casamos|visito|visitamos|presento|entrego|comienzo|hago|celebro|celebramos|estaré|iré|viajaré|tendré|empezaré|quedo)(?! (?:a )?(?:{errand}))',
    ),
    cue(
      'event',
      '{yo}{no}(?:(?:me|nos) )?(?:voy|vamos|viajo|viajamos|vuelo|salgo|empiezo|tengo|mudo|mudamos|caso|casamos|jubilo|visito|visitamos|presento|comienzo|\\p{L}+(?:aré|eré|iré|aremos|eremos|iremos))(?! a (?:{errand}))(?=[^?]{0,100}?\\s(?:{soon})(?!\\p{L}))',
    ),
    cue(
      'event',
      '{yo}{no}(?:me|nos) (?:mudo|mudamos|caso|casamos|jubilo|gradúo)|{yo}{no}(?:voy|vamos) a (?:mudar(?:me|nos)|casar(?:me|nos)|viajar|visitar|jubilarme|tener un (?:bebé|hijo)|graduarme|comprar(?:me|nos)? (?:un|una)|empezar un nuevo|correr (?:un|la|el) )',
    ),
    cue(
      'event',
      '{my} (?:vuelo|boda|examen|operación|cita|viaje|entrevista|mudanza|graduación) (?:es|sale|empieza)|{yo}quiero (?:aprender(?! (?:cómo|por))|mudarme|viajar|comprar(?:me)? (?:una casa|un coche)|casarme|correr un)',
    ),
    cue(
      'pattern',
      '(?:{often}),? {yo}{no}(?:(?:me|nos|le|les|lo|la) )?(?!soy|estoy|he|tengo un error|recibo|obtengo|quise|hemos)(?:\\p{L}{1,12}o|voy|doy|\\p{L}{2,10}mos)',
    ),
    cue(
      'pattern',
      '{yo}{no}(?:suelo|solemos|acostumbro|acostumbramos|tiendo a|tengo (?:la costumbre|el hábito)|tengo por costumbre)',
    ),
    cue(
      'pattern',
      `{yo}{no}(?:(?:siempre|nunca|normalmente|a menudo) )?(?:${daily})(?=[^?]{0,100}?\\s(?:{often})(?!\\p{L}))`,
    ),
    cue(
      'pattern',
      `(?:yo )?(?:siempre|nunca|casi nunca|casi siempre|normalmente|jamás) (?:${daily})|{yo}{no}soy (?:madrugador|madrugadora|noctámbul[oa])`,
    ),
    // Transitions and lasting facts in general.
    cue(
      'fact',
      '(?:(?:yo|ya|por fin|al final|hace [^,]{1,20}|ayer|hoy|este año|la semana pasada|en \\p{L}+),? )*(?:(?:me|nos) (?:mud[éo]|mudamos|cas[éo]|casamos|divorcié|divorciamos|separé|separamos|jubilé|cambié|cambiamos|operaron|ascendieron|despidieron|contrataron|gradué|hice|volví|apunté|compré|compramos|diagnosticaron|llamo|toca|voy|vamos)|dej[ée]|dejamos|empecé|empezamos|empiezo|compré|compramos|vendí|vendimos|adopté|adoptamos|tuve|tuvimos|terminé|acabé|aprobé|perdí|gané|renuncié|conseguí|alquilé|alquilamos|abrí|fundé|cumplí|cumplo|rompí|cancelé|cancelamos|he (?:dejado|empezado|comprado|vendido|cambiado|conseguido|terminado|aprobado|adoptado|aplazado))(?= )',
    ),
    cue(
      'fact',
      '(?:mi|mis|nuestr[oa]s?) (?!(?:pregunta|problema|código|error|duda|programa|texto|idea|opinión) )(?:[\\p{L}-]+ ){0,4}?[\\p{L}-]+ (?:es|son|está|están|era|tiene|tienen|se llama|cuesta|empieza|termina|vive|trabaja|nació|murió|tuvo|toma|come|usa|cambió|sube|subió|vence|dura|estudia|juega|va|viene|necesita|no (?:come|puede|bebe|toma|tolera))(?= )',
    ),
    cue(
      'fact',
      '(?:yo )?(?:tomo|uso|conduzco|juego|toco|estudio|estudiamos|llevo|tengo|tenemos|entreno|canto|colecciono|gano|pago|pagamos|alquilo|alquilamos|practico|enseño|dirijo|cuido|crío|trabajo|trabajamos|vivo|vivimos|soy|estoy (?:estudiando|embarazada|tomando|trabajando|casad[oa]|divorciad[oa]|jubilad[oa]|en paro|de baja)|vamos a tener)(?! (?:una pregunta|un problema|un error|una duda|que|esto|eso|ganas|idea|ni))(?= )',
    ),
    cue('fact', '{yo}(?:estoy|estamos) (?:embarazada|jubilad[oa]|de baja|a dieta|en paro)'),
  ],
}
