/** Spanish. The subject is mostly omitted, so cues match verb forms. */
import { createSpacedCueNotation } from '../cue-notation.ts'
import type { CueTable } from '../types.ts'

const { cue, opening } = createSpacedCueNotation({
  my: 'mis?|nuestr[oa]s?',
  past: 'ayer|anteayer|anoche|el otro día|la otra vez|la última vez|la vez pasada|hace (?:\\S+ )?(?:poco|tiempo|días?|semanas?|mes(?:es)?|años?|rato)|(?:la semana|el mes|el año|el lunes|el martes|el miércoles|el jueves|el viernes|el sábado|el domingo) pasad[oa]|antes|anteriormente|previamente|en nuestra última \\S+|últimamente',
  agreed:
    'decidimos|hablamos|acordamos|quedamos|discutimos|planeamos|elegimos|comentamos|vimos|descartamos|resolvimos|conversamos|hemos (?:hablado|decidido|acordado)|habíamos (?:hablado|decidido|acordado|quedado|dicho)|dejamos|pactamos',
  you: 'me (?:recomendaste|dijiste|contaste|sugeriste|mencionaste|aconsejaste|habías (?:recomendado|dicho|contado|sugerido|mencionado)|has (?:recomendado|dicho|contado)|comentaste|prometiste|hablaste)|recomendaste|mencionaste|sugeriste',
  leisure:
    'restaurantes?|cafeterías?|películas?|pelis?|series?|libros?|novelas?|recetas?|platos?|cenas?|comidas?|postres?|vinos?|regalos?|hotel(?:es)?|viajes?|destinos?|vacaciones|música|canci(?:ón|ones)|discos?|playlist|podcasts?|juegos?|hobb(?:y|ies)|aficiones|actividad(?:es)?|rutas?|excursi(?:ón|ones)|conciertos?|cursos?|planes',
  work: 'código|función|funciones|script|programa|consulta|pruebas?|clase|variables?|bucle|método|regex|repositorio|rama|commit|servidor|contenedor|docker|git|api|aplicación|base de datos|tabla|columna|archivos?|ficheros?|carpeta|paquete|biblioteca|librería|framework|módulo|componente|algoritmo|error|errores|bug|ensayo|párrafo|frase|borrador|deberes|tarea|ecuación|fórmula|demostración|solución|python|java|javascript|sql|css|html|ordenador|computadora|navegador|entrada|salida|comando',
})

export const SPANISH_CUES: CueTable = {
  language: 'es',
  void: opening(
    '¿?(?:y |pero )?(?:si|supongamos|imagina|imagínate) (?:yo|te|tú|me|que)',
    '¡?(?:por favor,? |y )?(?:recuerda|recuerde|acuérdate|no olvides|no te olvides|ten en cuenta|apunta|anota)(?: de)?(?: que| \\S+r(?:lo|la)?(?! \\?))',
    '(?:por favor,? )?(?:traduce|corrige|reescribe|reformula)',
  ),
  ownWords: [
    cue(
      '(?:busca|encuentra|muéstrame|enséñame|búscame) (?:\\S+ ){0,2}?(?:mensaje|nota|texto) (?:en el que|en la que|donde|en que) ',
    ),
    cue(
      'mis (?:propias )?palabras(?: exactas| textuales| literales)|mis propias palabras',
      'con mis',
    ),
    cue(
      '(?:cita|cítame|repite|repíteme|copia|cópiame) (?:\\S+ ){0,3}?(?:lo que|las palabras que|el mensaje que) (?:yo )?(?:te )?(?:dije|escribí|conté|puse|mandé)',
    ),
    cue('qué (?:fue lo que )?(?:te )?(?:dije|escribí|puse)', '{work}|mal'),
    cue(
      '(?:dije|escribí|puse) (?:\\S+ )?(?:exactamente|textualmente|literalmente|palabra por palabra)',
    ),
    cue(
      'cómo (?:lo )?(?:formulé|expresé|redacté)|(?:muéstrame|enséñame|busca|dame) (?:\\S+ ){0,3}?(?:mensaje|texto|frase) que (?:yo )?te (?:mandé|escribí|envié)',
    ),
  ],
  whoAmI: [
    cue('qué (?:clase|tipo) de persona (?:\\S+ ){0,4}?soy|cómo soy(?: yo)?'),
    cue(
      '(?:guardado|guardada|anotado|almacenado|registrado|apuntado) (?:\\S+ ){0,3}?(?:sobre|de|acerca de) (?:mí|mi persona)|(?:tienes|guardas) (?:\\S+ ){0,3}?sobre (?:mí|mi persona)',
    ),
    cue('cómo me llamo|cuál es mi nombre|sabes mi nombre|recuerdas mi nombre'),
    cue('quién soy', 'citando'),
    cue(
      '(?:sabes|recuerdas|conoces|aprendido|guardado|sepas|recuerdes) (?:\\S+ ){0,2}?(?:de|sobre|acerca de) mí|(?:cuéntame|háblame|dime) (?:\\S+ ){0,6}?(?:de|sobre) mí|descríbeme|resúmeme|me conoces',
    ),
    cue('cuántos años tengo|qué edad tengo|cuál es mi edad|cuándo nací'),
    cue('dónde (?:trabajo|vivo|nací)|de dónde soy|en qué (?:ciudad|país|empresa) (?:vivo|trabajo)'),
    cue(
      'a qué me dedico|en qué trabajo|cuál es mi (?:trabajo|profesión|puesto|oficio)|qué idiomas hablo',
    ),
    cue('(?:biografía|bio|perfil|presentación) (?:mía|sobre mí|de mí)'),
  ],
  earlierTalk: [
    cue(
      '(?:ya|al final|finalmente) (?:\\S+ )?[\\p{L}]{3,}(?:amos|imos)(?![\\p{L}])',
      '{work}|vamos|somos|podemos',
    ),
    cue(
      'en qué (?:quedó|quedamos|acabó|terminó)|cómo (?:quedó|acabó|terminó) (?:lo|el tema|la cosa)|hasta dónde llegamos|a qué conclusión',
    ),
    cue(
      '(?:qué|cuál(?:es)?|cómo|dónde|cuándo|por qué|lo que) (?:\\S+ ){0,5}?(?!\\S*ríamos)[\\p{L}]+(?:ábamos|íamos)(?![\\p{L}])',
      '{work}',
    ),
    cue(
      '(?:cómo|por qué|a qué|qué) (?:llegamos|pensamos|propusimos|hicimos|escogimos|dijimos|anotamos|apuntamos)',
    ),
    cue(
      '(?:sigue|seguir|continúa|continuar|retoma) (?:\\S+ ){0,5}?(?:ayer|la última vez|anterior conversación|estábamos)|como la última vez',
    ),
    cue('(?:me )?(?:dijiste|decías|pediste|querías) que'),
    cue(
      '(?:qué|que|cuál|cuáles|dónde|donde|cómo|como|de qué|por qué|cuándo|cuando|lo que) (?:\\S+ ){0,3}?(?:{agreed})',
    ),
    cue('(?:{past}),? (?:\\S+ ){0,3}?(?:{agreed})'),
    cue(
      'donde (?:lo )?(?:dejamos|nos quedamos|quedamos)|(?:sigamos|continuemos|retomemos) (?:con )?(?:donde|lo de|la conversación|desde)|(?:nuestra|la) (?:última|anterior|pasada) (?:conversación|sesión|charla)|(?:conversación|charla|sesión) (?:anterior|pasada|de ayer)',
    ),
    cue('(?:{you})', '{work}'),
    cue(
      '(?:{past}),? me (?:diste|dijiste|mostraste|escribiste|explicaste|enviaste|ayudaste)|me (?:diste|mostraste|escribiste|explicaste|ayudaste) (?:\\S+ ){0,6}?(?:{past})',
      '{work}',
    ),
    cue('como (?:ya )?(?:te )?(?:dije|comenté|mencioné|conté|expliqué|había dicho|he dicho|decía)'),
    cue(
      '(?:te acuerdas|recuerdas|se acuerda) (?:de )?(?:cuando|aquel|aquella|la vez|lo que|nuestr[oa])',
    ),
  ],
  ownPast: [
    cue(
      '(?:cuándo|dónde|cuánt[oa]s?|cuál(?:es)?|con quién|qué) (?:\\S+ ){0,8}?(?!\\S*(?:aré|eré|iré)(?! ?\\S))(?!qué|sé|porqué)[\\p{L}]{2,}[éí](?![\\p{L}])',
      '{work}|mal|así|aquí|allí|ahí|sí|también|aún|podré|haré|seré',
    ),
    cue(
      '(?:cuándo|dónde|cuántas veces|cuántos \\S+|cuánto|qué|con quién) (?:\\S+ ){0,2}?(?:fui|hice|compré|comí|visité|estuve|pagué|corrí|leí|vi|llamé|tomé|viajé|empecé|dejé|fue la última vez que|he (?:visitado|leído|ido|hecho|corrido))',
      '{work}|mal',
    ),
    cue(
      '(?:te (?:he )?(?:conté|contado|dije|dicho|mencioné|mencionado)) (?:\\S+ ){0,3}?(?:alguna vez|qué|cuál|que)',
      '{work}',
    ),
    cue('(?:la )?última vez que (?:yo )?(?:fui|hice|estuve|comí|vi|compré|tomé)'),
  ],
  ownFact: [
    cue(
      '(?:cuál|quién|cuándo|dónde|qué|cuánt[oa]s?) (?:\\S+ ){0,6}?mi (?:[\\p{L}]+ )?(?:mujer|esposa|marido|esposo|pareja|novi[oa]|madre|padre|mamá|papá|hij[oa]s?|herman[oa]s?|abuel[oa]s?|tí[oa]s?|prim[oa]s?|jef[ea]|perr[oa]|gat[oa]|amig[oa]s?)',
      '{work}|debo|debería',
    ),
    cue(
      '(?:cómo|cuál|qué|quién|dónde) (?:se llamaba|era|estaba) (?:\\S+ ){0,10}?(?:siempre|que (?:voy|vamos|uso|tomo))',
    ),
    cue(
      '(?:vamos|voy|pido|pedimos|compro|uso|tomo) siempre|siempre (?:vamos|voy|pido|pedimos|compro)',
    ),
    cue('(?:ya )?(?:conoces|sabes) (?:{my} gustos|lo que me gusta|qué me gusta)'),
    cue(
      '(?:cuál|cuáles|quién|quiénes|cuándo|dónde|qué|cómo|cuánt[oa]s? \\S+) (?:es|son|era|eran|fue|se llamaba|se llama|se llaman|vive|viven|trabaja|cumple|tiene|tienen|será) (?:(?:el|la|los|las) (?:\\S+ )?\\S+ de )?(?:{my}) ',
      '{work}|problema|mejor',
    ),
    cue('(?:te acuerdas|recuerdas|sabes) (?:de )?(?:\\S+ ){0,5}?(?:{my}) ', '{work}|por qué'),
    cue('te acuerdas|(?:todavía |aún )recuerdas'),
    cue(
      'soy (?:\\S+ )?alérgic[oa] a (?:algo|alguna|qué)|(?:tengo|qué) (?:\\S+ )?alergias?(?! \\S)|soy alérgic[oa] a qué',
    ),
    cue(
      '(?:qué|cuál|con qué) (?:\\S+ ){0,4}?(?:suelo|prefiero|me gusta(?:n)?|uso normalmente|odio)',
      '{work}',
    ),
    cue('de siempre|lo de siempre|(?:mi|el|la) \\S+ habitual|como siempre(?! \\S)'),
  ],
  advice: [
    cue(
      '(?:le|les|nos) (?:iría|vendría|gustaría|vendrían) (?:\\S+ ){0,3}?(?:{my}) |(?:a|para) (?:mi|nuestra) familia',
    ),
    cue(
      '(?:búscame|búscanos|encuéntrame|recomiéndame|busca) (?:\\S+ ){1,4}?cerca de (?:mi|casa|aquí|nuestra)',
    ),
    cue('me (?:vendría|iría|quedaría|sentaría|convendría) (?:bien|mejor|\\S+ bien)', '{work}'),
    cue(
      'qué (?:\\S+ ){0,2}?(?:puedo|podría|podríamos|debería|deberíamos|podemos|voy a|me) (?:\\S+ )?(?:cocinar|comer|cenar|ponerme|pongo|ver|leer|regalar(?:le)?|hacer (?:este|el|esta|hoy|mañana) (?:fin|finde|noche|sábado|domingo|tarde)|preparar|pedir|beber|escuchar|llevar)',
      '{work}',
    ),
    cue(
      'qué (?:cocino|ceno|como|cenamos|comemos|hago de (?:cenar|comer)|le regalo|les regalo|me pongo|leo|veo|vemos)',
      '{work}',
    ),
    cue(
      '(?:a\\s?dónde|dónde) (?:puedo|podría|podríamos|podemos|debería|deberíamos|vamos|voy a) (?:\\S+ )?(?:ir|viajar|comer|cenar|celebrar|quedarme)',
      '{work}',
    ),
    cue(
      '(?:recomiéndame|recomiéndanos|recomienda|recomendar(?:me|nos)?|recomiendas|recomendaci(?:ón|ones)|sugiéreme|sugiere|sugerir(?:me)?|propón(?:me)?|ideas?|consejos?|búscame|busca) (?:\\S+ ){0,5}?(?:{leisure})',
      '{work}',
    ),
    cue(
      '(?:recomiéndame|recomienda|recomiendas|sugiéreme|sugiere|dame|ideas?|consejos?|busca(?:me)?) (?:\\S+ ){0,8}?(?:para mí|para nosotros|que me (?:pueda|puedan|vaya|guste|gustaría)|(?:para|a) (?:{my}))',
      '{work}',
    ),
    cue('me (?:gustaría|gustará|conviene|pega|iría mejor)(?! \\S+r )', '{work}|saber'),
    cue('alguien como yo|(?:{my}) gustos?|mi dieta|mi presupuesto'),
    cue('regal(?:o|os|ar|arle|o a|arle a) (?:\\S+ ){0,3}?(?:a|para) (?:{my})'),
    cue(
      '(?:planea|planifica|organiza|organízame|planéame|prepárame|hazme|créame|diséñame) (?:\\S+ ){0,4}?(?:fin de semana|viaje|vacaciones|menú|entrenamiento|rutina|dieta|plan de|lista de la compra)',
    ),
    cue('(?:resérvame|resérvanos|pídeme|cómprame|reserva mi|reserva nuestra|reserva una mesa)'),
    cue('puedo (?:comer|beber|tomar) (?:esto|eso|este|esta)'),
    cue('(?:debería|tendría que) (?:aceptar|dejar|mudarme|comprar)', '{work}'),
  ],
}
