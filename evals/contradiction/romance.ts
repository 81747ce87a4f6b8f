/** Spanish, French and Portuguese pairs, `older | newer`, one per line. `pairs.ts` defines the labels. */
export const SPANISH = {
  duplicate: `
    Vivo en Madrid | Yo vivo en Madrid
    Me gusta el café | Me gusta mucho el café
    Me llamo Lucía | Mi nombre es Lucía
    Tengo dos gatos | Tengo 2 gatos
    Mi color favorito es el verde | El verde es mi color favorito
    No como carne | Nunca como carne
    Los lunes voy a nadar | Voy a nadar los lunes
    Mi perro se llama Toby | Tengo un perro que se llama Toby
    Soy enfermera | Trabajo de enfermera
    Por cierto, hablo inglés y alemán | Hablo inglés y alemán
  `,
  update: `
    Vivo en Madrid | Ahora vivo en Valencia
    Vivo en Madrid | Me mudé a Bilbao
    Fumo | Ya no fumo
    Trabajo en Telefónica | Ahora trabajo en Iberia
    Mi película favorita es Volver | Mi película favorita es Roma
    Me gusta el café | Ya no me gusta el café
    Tengo 2 gatos | Ahora tengo 3 gatos
  `,
  conflict: `
    La reunión es el lunes | La reunión es el martes
    La entrada cuesta 30 euros | La entrada cuesta 35 euros
    El museo abre los domingos | El museo no abre los domingos
    Ana come pescado | Ana no come pescado
  `,
  unrelated: `
    Vivo en Madrid | Vivo en España
    Vivo en Madrid | Mi hermana vive en Sevilla
    Me gusta el té | Me gusta el café
    Me gusta el té | No me gusta el café
    Tengo 2 hermanos | Tengo 3 hermanas
    El capítulo 3 está listo | El capítulo 4 está listo
    Corrí 5 km el lunes | Corrí 8 km el viernes
    Mi perro se llama Toby | Mi gato se llama Luna
    Trabajo en Telefónica | Trabajo en casa los viernes
    Vivo en Madrid | Antes vivía en Granada
  `,
} as const

export const FRENCH = {
  duplicate: `
    J'habite à Lyon | Je vis à Lyon
    J'aime le café | J'aime vraiment le café
    Je m'appelle Claire | Mon nom est Claire
    J'ai deux chats | J'ai 2 chats
    Ma couleur préférée est le vert | Le vert est ma couleur préférée
    Je ne mange pas de viande | Je ne mange jamais de viande
    Le lundi, je vais nager | Je vais nager le lundi
    Mon chien s'appelle Filou | J'ai un chien qui s'appelle Filou
    Je suis infirmière | Je travaille comme infirmière
    Au fait, je travaille chez Renault | Je travaille chez Renault
  `,
  update: `
    J'habite à Lyon | J'habite maintenant à Nantes
    J'habite à Lyon | J'ai déménagé à Lille
    Je fume | Je ne fume plus
    Je travaille chez Renault | Je travaille maintenant chez Airbus
    Mon film préféré est Amélie | Mon film préféré est Intouchables
    J'aime le café | Je n'aime plus le café
    J'ai 2 chats | J'ai maintenant 3 chats
  `,
  conflict: `
    La réunion est lundi | La réunion est mardi
    Le billet coûte 30 euros | Le billet coûte 35 euros
    Le musée ouvre le dimanche | Le musée n'ouvre pas le dimanche
    Anne mange du poisson | Anne ne mange pas de poisson
  `,
  unrelated: `
    J'habite à Lyon | J'habite en France
    J'habite à Lyon | Ma sœur habite à Nice
    J'aime le thé | J'aime le café
    J'aime le thé | Je n'aime pas le café
    J'ai 2 frères | J'ai 3 sœurs
    Le chapitre 3 est terminé | Le chapitre 4 est terminé
    J'ai couru 5 km lundi | J'ai couru 8 km vendredi
    Mon chien s'appelle Filou | Mon chat s'appelle Moka
    Je travaille chez Renault | Je travaille chez moi le vendredi
    J'habite à Lyon | Avant, j'habitais à Dijon
  `,
} as const

export const PORTUGUESE = {
  duplicate: `
    Moro em Lisboa | Eu moro em Lisboa
    Gosto de café | Gosto muito de café
    Meu nome é Rita | Eu me chamo Rita
    Tenho dois gatos | Tenho 2 gatos
    Minha cor favorita é verde | Verde é minha cor favorita
    Não como carne | Nunca como carne
    Às segundas vou nadar | Vou nadar às segundas
    Meu cachorro se chama Thor | Tenho um cachorro que se chama Thor
    Sou enfermeira | Trabalho como enfermeira
    Aliás, falo inglês e alemão | Falo inglês e alemão
  `,
  update: `
    Moro em Lisboa | Agora moro em Braga
    Moro em Lisboa | Me mudei para Coimbra
    Eu fumo | Eu não fumo mais
    Trabalho na Petrobras | Agora trabalho na Embraer
    Meu filme favorito é Central do Brasil | Meu filme favorito é Bacurau
    Gosto de café | Já não gosto de café
    Tenho 2 gatos | Agora tenho 3 gatos
  `,
  conflict: `
    A reunião é na segunda | A reunião é na terça
    O bilhete custa 30 euros | O bilhete custa 35 euros
    O museu abre aos domingos | O museu não abre aos domingos
    Ana come peixe | Ana não come peixe
  `,
  unrelated: `
    Moro em Lisboa | Moro em Portugal
    Moro em Lisboa | Minha irmã mora em Faro
    Gosto de chá | Gosto de café
    Gosto de chá | Não gosto de café
    Tenho 2 irmãos | Tenho 3 primos
    O capítulo 3 está pronto | O capítulo 4 está pronto
    Corri 5 km na segunda | Corri 8 km na sexta
    Meu cachorro se chama Thor | Meu gato se chama Nino
    Trabalho na Petrobras | Trabalho em casa às sextas
    Moro em Lisboa | Antes eu morava em Évora
  `,
} as const
