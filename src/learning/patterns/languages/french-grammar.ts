/** French. "Ne" is often dropped in writing, so "pas" alone negates: "j'aime pas". */
import { CRITICAL_IMPORTANCE, createSpacedNotation, NEVER_MATCHING } from '../grammar-notation.ts'
import type { Grammar } from '../types.ts'

const { opening, anywhere, cue } = createSpacedNotation({
  family:
    'femme|épouse|époux|mari|compagn(?:e|on)|conjointe?|copine?|copain|petite?[- ]amie?|fiancée?|fils|filles?|enfants?|bébé|jumeaux|jumelles|mère|maman|père|papa|parents|frères?|sœurs?|soeurs?|grand-mère|grand-père|grands-parents|oncles?|tantes?|cousine?s?|neveux?|nièces?|belle-mère|beau-père|belle-sœur|beau-frère|petits-enfants|petit-fils|petite-fille',
  pets: 'chiens?|chiennes?|chats?|chattes?|chatons?|chiots?|animaux|perroquets?|hamsters?|lapins?|chevaux|cheval|tortues?',
  others:
    'chef(?:fe)?|patron(?:ne)?|manager|collègues?|colocataires?|coloc|voisine?s?|amie?s?|meilleure? amie?|meilleurs amis|thérapeute|propriétaire|prof|médecin|ex|associée?',
  kin: '{family}|{pets}|{others}',
  my: 'mon|ma|mes|notre|nos',
  adv: '(?:(?:vraiment|aussi|toujours|bien|beaucoup|trop|tellement|personnellement|actuellement|déjà|encore|surtout|plutôt|juste|également|absolument|du tout|tout|simplement|finalement|enfin|donc|très|moi-même|jamais|pas|plus|guère|plus jamais) ){0,3}',
  ne: "(?:ne |n')?(?:(?:me|m'|se|nous|te|y|en|l')\\s?)?",
  je: "(?:(?:moi|nous|perso),? )?(?:je |j'|j |on |nous ){ne}",
  often:
    "d'habitude|habituellement|généralement|en général|normalement|toujours|jamais|souvent|régulièrement|rarement|presque toujours|presque jamais|parfois|quelquefois|fréquemment|tous les (?:jours|matins|soirs|midis|lundis|mardis|mercredis|jeudis|vendredis|samedis|dimanches|week-ends|mois|ans|étés)|toutes les (?:semaines|nuits|\\p{L}+ semaines)|chaque (?:jour|matin|soir|semaine|mois|année|été|hiver|dimanche|lundi|week-end|nuit)|le (?:lundi|mardi|mercredi|jeudi|vendredi|samedi|dimanche|matin|soir|week-end) (?=je|j')|(?:une|deux|trois|quatre|\\d) fois par (?:jour|semaine|mois|an)|quotidiennement|la plupart du temps",
  month: 'janvier|février|mars|avril|mai|juin|juillet|août|septembre|octobre|novembre|décembre',
  soon: "demain|après-demain|ce (?:soir|week-end|mois|printemps|lundi|mardi|mercredi|jeudi|vendredi|samedi|dimanche)|cette (?:semaine|année)|cet (?:été|automne|hiver)|bientôt|prochainement|(?:la|le|l'|les)\\s?(?:semaine|mois|année|an|été|hiver|automne|printemps|week-end|lundi|mardi|mercredi|jeudi|vendredi|samedi|dimanche) prochaine?|en (?:{month}|20\\d\\d|été|hiver|automne)|dans (?:\\p{L}+|\\d+) (?:jours?|semaines?|mois|ans?)|(?:début|fin|mi-?|courant)\\s?(?:{month}|20\\d\\d)|à (?:noël|pâques|la rentrée)|le \\d+ {month}|(?<!(?:le|les|un|chaque) )(?:lundi|mardi|mercredi|jeudi|vendredi|samedi|dimanche)",
  errand:
    '(?:essayer|tester|voir|envoyer|coller|partager|montrer|vérifier|dire|faire (?:ça|cela)|le|la|les|te|vous|donner|demander|expliquer|avoir besoin|copier|mettre|lancer|exécuter|regarder|corriger|ajouter|lire|attendre|y)(?!\\p{L})',
})

const like =
  'aime|aimons|préfère|préférons|adore|adorons|déteste|détestons|apprécie|apprécions|hais|évite|supporte|raffole|kiffe'

export const FRENCH_GRAMMAR: Grammar = {
  language: 'fr',
  languageHint:
    /(?<!\p{L})(?:je|j'|le|les|et|est|mon|ma|une|avec|pour|dans|pas|ne|des|du|mais|suis|c'est|à|sur|nous|au|chez)(?!\p{L}{2})/giu,
  firstPerson: /(?<!\p{L})(?:je|j'|j(?=\s)|moi|mon|ma|mes|notre|nos|nous|on|m')/iu,
  discourse: opening(
    "(?:bonjour|salut|coucou|bonsoir|ok|d'accord|bon|ben|bah|alors|et|mais|aussi|puis|donc|au fait|d'ailleurs|à propos|oui|non|merci|super|parfait|génial|franchement|honnêtement|pour info|à vrai dire|en fait|en vrai|personnellement|perso|pour être honnête|sache que|sachez que|note que|notez que|rappelle-toi que|retiens que|je précise que|petite précision|par ailleurs|en plus|car|parce que|ah|euh)[\\s,:!–—-]*(?=\\p{L}|$)",
  ),
  lead: opening(
    "la semaine|le|la|les|l'|demain|après|après-demain|aujourd'hui|ce|cet|cette|en|à|au|aux|tous|toutes|chaque|par|pour|depuis|avant|pendant|durant|quand je suis|quand j'ai|d'habitude|habituellement|généralement|normalement|toujours|souvent|parfois|rarement|de|du|dès|avec|chez|actuellement|maintenant|en ce moment|dernièrement|finalement|bientôt|dans|entre|comme|il y a|sur|une fois|deux fois|à l'origine|professionnellement|début|fin|mi|côté|niveau|sinon|lundi|mardi|mercredi|jeudi|vendredi|samedi|dimanche|presque|la plupart|moi|nous",
  ),
  anchor: /(?<![\p{L}\p{N}'])(?:j|je|on|nous|moi|mon|ma|mes|notre|nos)(?!\p{L})/giu,
  boundary:
    /[,:(–—](?:\s*(?:et|mais|donc|or|car|alors|par contre|en revanche|cependant|aussi|pourtant)\s)?|(?<=\s)(?:-\s|(?:et|mais|donc|par contre|alors)\s)|(?<=\s)(?=(?:peux-tu|pouvez-vous|tu peux|pourrais-tu)\s)/giu,
  subject: /^(?:je\s|j'|nous\s|on\s)/iu,
  request: opening(
    "(?:(?:et|donc|alors|mais) )?(?:s'il (?:te|vous) plaît|stp|svp|(?:peux|pourrais|saurais|connais)-tu|(?:pouvez|pourriez|connaissez)-vous|tu (?:peux|pourrais|as|me)|vous (?:pouvez|avez)|qu'est-ce|est-ce|que (?:puis|dois|faire|me|peux)|quoi|quels?|quelles?|comment|où|quand (?:dois|puis)|qui|pourquoi|combien|donne|donnez|dis-moi|dites|recommande|conseille|suggère|propose|aide|explique|montre|écris|fais|y a-t-il|dois-je|puis-je|non \\?|hein|(?:des |une |un )?(?:idées?|conseils?|suggestions?|astuces?)(?=\\s*$))",
  ),
  nonStatement: opening(
    "si|s'il|s'ils|peut-être|supposons|suppose|imagine|imaginons|imaginez|disons|au cas où|à supposer|et si|probablement|sans doute|il se peut|qu'est-ce|est-ce|quels?|quelles?|comment|où|pourquoi|combien|qui|que (?:puis|dois|faire)|dois-je|puis-je|suis-je|ai-je|aimé-je|(?:peux|pourrais)-tu|écris|traduis|fais comme|joue|(?:est|sont|a) {my}|quand est-ce",
  ),
  questionEnd: NEVER_MATCHING,
  attribution: anywhere(
    "(?:dit|disent|disait|dis|dites|pense|pensent|penses|croit|croient|croyait|trouve|trouvent|affirme|prétend|raconte|suppose|assure|insiste|écrit|répète|imagine) (?:toujours |souvent )?qu(?:e|')|(?:tu as|t'as|vous avez|il a|elle a|on m'a|ils ont|m'a) dit|selon|d'après (?:mon|ma|lui|elle|le|la)|(?:dit|cria|écrit|répondit) (?:mon|ma|le|la|il|elle)|apparemment|soi-disant|il paraît",
  ),
  condition: /(?<!\p{L})(?:si|s'ils?|à moins que)(?!\p{L})/iu,
  chatter: opening(
    "{je}(?:ai|avons) {adv}(?:une?|cette|ce|le|la|l'|un petit|des|quelques|d'autres|toujours (?:une?|cette|ce|le|la|l'))?\\s?(?:questions?|problèmes?|erreurs?|doutes?|idée|code|script|fichier|bug|besoin|l'impression|essayé|vu|lu|testé|reçu|du mal|compris)",
    "{je}(?:suis|sommes) {adv}(?:en train|sûre?|certaine?|perdue?|confuse?|bloquée?|désolée?|d'accord|prête?|content|curieu|là|nouveau|nouvelle|un peu|à la recherche|tombée?|conscient|dessus)",
    '{je}(?:vais|allons) {adv}(?:{errand})',
    '{je}(?:comprends|comprend|sais|voudrais|veux|aimerais|essaie|essaye|cherche|pense|crois|vois|obtiens|reçois|trouve que|souhaite|me demande|demande)',
  ),
  deictic:
    /^[\s:]*(?:(?:bien |beaucoup |vraiment |trop |pas )?(?:ce(?!\p{L})(?! qui)|cette|ces|cet|ça|cela|ceci|celui|celle|ta|ton|tes|votre|vos|la (?:réponse|première|deuxième|seconde|troisième|solution)|l'idée|le (?:premier|deuxième|second|code)|comment tu|ce que tu|toi)(?!\p{L}))/iu,
  negation: {
    within: 'cue',
    words: /(?<!\p{L})(?:ne|pas|jamais|guère|aucune?)(?!\p{L})|(?<!\p{L})n'/iu,
  },
  cues: [
    cue(
      'preference',
      `{je}(?:${like})(?: {adv}(?:pas|plus|jamais|guère)(?: (?:du tout|trop|vraiment|tellement|beaucoup))?)?(?= \\S)`,
    ),
    cue(
      'preference',
      "{je}(?:ai|avons) {adv}(?:aimé|adoré|détesté|horreur|préféré)(?! (?:ta|ton|cette|ce))|{je}(?:suis|sommes) {adv}(?:(?:un|une|grande?|gros|grosse|très|super) ){0,2}(?:fans?|amateur|amatrice|passionnée?|accro|dingue|folle|fou|féru|friand) (?:de|d'|du|des|par|à|au)?|{je}m'intéresse|je m'intéresse",
    ),
    cue(
      'preference',
      "{my} (?:[\\p{L}'-]+ ){1,4}?(?:préférée?s?|favorite?s?|favoris)(?: [\\p{L}-]+){0,4},? (?:est|sont|c'est|reste|a toujours été)|{my} (?:hobbys?|hobbies|passe-temps|passions?|loisirs)(?: préférés?)? (?:est|sont|c'est)",
    ),
    cue(
      'preference',
      "(?!quel|qui|ce|c'est|ça)[^,.:]{2,60}? (?:est|sont) {my} (?:[\\p{L}-]+ ){0,3}(?:préférée?s?|favorite?s?)|ce que (?:je |j')(?:préfère|aime|adore|déteste)[^,.]{0,40} (?:c'est|est)|(?:ça|cela) me plaît|[\\p{L}' ]{2,40} (?:ne )?me (?:plaît|plaisent)(?: pas)?",
    ),
    cue(
      'decision',
      "{je}(?:(?:ai|avons|a|as) {adv}(?:décidé|choisi|opté|sélectionné|tranché|adopté|abandonné|remplacé|retenu)(?: (?:de ne (?:pas|plus)|d'|de|pour|contre))?|(?:suis|sommes|est) {adv}passée?s? (?:de|d'|à|sur|au)|me suis décidée?)",
    ),
    cue(
      'decision',
      "{je}(?:vais|allons|va) {adv}(?:utiliser|choisir|prendre (?!le temps|un moment)|opter|adopter|garder|passer (?:à|sur)|rester sur|arrêter d'utiliser)|{je}(?:utiliserai|utiliserons|choisirai|opterai|pars sur|partons sur|part sur)|{my} (?:décision|choix) (?:est|c'est)",
    ),
    cue(
      'relationship',
      "{my} (?:(?:petite?|grande?|jeune|nouve(?:au|lle)|ancien(?:ne)?|deux|trois|meilleure?) ){0,2}(?:{kin})(?: (?:aînée?|cadette?|cadet))?(?: (?!component|est|a)[\\p{L}-]+)? (?:(?:ne |n'|s'|se |ne s'|l')?\\s?)?(?:appelle|appellent|nomme|est|sont|était|a|ont|habite|habitent|vit|vivent|travaille|travaillent|aime|aiment|adore|déteste|étudie|parle|joue|mange|boit|va|vient|fait|fête|préfère)(?! (?:une erreur|un problème|une question|en train|dit|demandé|un bug))(?: pas| plus)?",
    ),
    cue(
      'relationship',
      "{je}(?:ai|avons|a) {adv}(?:(?:une?|deux|trois|quatre|cinq|\\d+|plusieurs|de|d'|aucune?|des)\\s?)(?:(?:petite?|grande?|vieux|vieille) )?(?:{family}|{pets})",
    ),
    cue(
      'relationship',
      '{je}(?:suis|sommes|est) {adv}(?:(?:heureusement|récemment) )?(?:mariée?s?|divorcée?|célibataire|veu(?:f|ve)|séparée?|fiancée?s?|pacsée?s?|en couple|papa|maman|père|mère|grand-mère|grand-père|fils unique|fille unique|enfant unique)',
    ),
    cue(
      'relationship',
      "(?!qui|quel|ce|c'est|ça|il|elle)\\p{L}[^,.:]{1,40}? (?:est|sont) {my} (?:meilleure? )?(?:{kin})|l'anniversaire de {my} (?:{kin}) est|le (?:nom|prénom) de {my} (?:{kin}) est",
    ),
    cue(
      'fact',
      "(?:moi )?(?:je m'|moi c'est |on m')appell?e|moi,? c'est \\p{L}+$|{my} (?:nom|prénom|surnom)(?: complet| de famille)? (?:est|c'est)|(?:tu peux m'|vous pouvez m'|tout le monde m')appel(?:er|le)|appelle-moi|appelez-moi",
      CRITICAL_IMPORTANCE,
    ),
    cue(
      'fact',
      "{je}(?:suis) {adv}(?:allergique|intolérante?|c(?:o)?eliaque|cœliaque|diabétique|asthmatique|épileptique)|{je}(?:ai|souffre) {adv}(?:une |de |d'|du |le |la )?(?:allergies?|intolérance|diabète|asthme|l'asthme|tdah|migraines?|épilepsie|dépression|anxiété|dyslexie|hypertension|autisme|insomnie)",
      CRITICAL_IMPORTANCE,
    ),
    cue(
      'fact',
      "{je}(?:ai|aurai) {adv}(?:\\d{1,3}|[\\p{L}-]+) ans(?! d')|{je}viens d'avoir (?:\\d+|\\p{L}+) ans",
    ),
    cue(
      'fact',
      "{je}(?:habite|habitons|vis|vivons|réside|loge)(?: pas| plus)?(?= (?:à|en|dans|au|aux|près|avec|chez|seule?|sur|actuellement|toujours|maintenant|depuis|pas|rue))|{je}(?:suis|sommes) {adv}(?:née?|originaire|basée?|installée?|de \\p{L}+$|d'origine)|{je}(?:viens|venons) (?:de (?!\\p{L}+(?:er|ir|re)(?!\\p{L}))|d'(?!avoir|être)|du|des)|{je}(?:ai|avons) (?:grandi|vécu|habité|déménagé)",
    ),
    cue(
      'fact',
      "{je}(?:travaille|travaillons|bosse|enseigne|étudie|dirige|gère)(?: pas| plus)? (?!sur (?:ce|un|une|le)|avec ce|dessus)(?:comme|en tant|chez|à|au|aux|dans|pour|en|de|depuis|la|le|l'|les|une?|avec)|{je}fais (?:des études|un (?:master|doctorat|stage|bts)|une (?:licence|thèse|alternance|formation)|mes études)",
    ),
    cue(
      'fact',
      '{je}(?:parle|parlons)(?: pas| plus| aussi| couramment)? (?!(?:de|du|à|avec|au|des)(?!\\p{L}))|{je}(?:mange|bois|fume|consomme|conduis)(?: (?:pas|plus|que))(?! souvent)|{je}(?:porte (?:des lunettes|du)|pèse|mesure)',
    ),
    cue(
      'fact',
      "{my} (?:[\\p{L}]+ )?(?:anniversaire|e-?mail|mail|adresse(?: e-?mail)?|courriel|téléphone|portable|numéro(?: de téléphone)?|ville(?: natale)?|fuseau horaire|pronoms|métier|profession|travail|employeur|entreprise|nationalité|langue (?:maternelle|natale)|groupe sanguin|pointure|taille|poids|âge|signe|code postal|voiture) (?:est|sont|c'est)",
    ),
    cue(
      'fact',
      "{je}(?:suis|sommes) (?:pas |plus )?(?!(?:en|sûre?|là|très|trop|bien|un peu|tellement|vraiment|si|d'accord|toujours|pas|plus|ravie?|heureu\\p{L}+|fatiguée?|content\\p{L}*|déjà|aussi|passée?|allée?|tombée?|partie?|arrivée?|venue?|restée?|au courant|capable|le seul|celui|à|dans|sur|avec|de|d'|du)(?!\\p{L}))(?:une? |le |la |l')?(?=\\p{L}{3})",
    ),
    cue(
      'event',
      "{je}(?:compte|comptons|prévois|prévoyons|envisage|envisageons|projette|ai prévu|avons prévu|a prévu|ai l'intention|avons l'intention)(?: pas)?(?! sur toi)|{je}(?:ai|avons) réservé|{my} (?:projet|objectif|but|rêve) (?:est|c'est)",
    ),
    cue(
      'event',
      '(?:{soon}),? {je}(?:vais|allons|va|pars|partons|part|ai|avons|a|suis|serai|serons|déménage|déménageons|marie|commence|commençons|visite|rends|présente|prends|rencontre|vole|voyage|fête|passe|\\p{L}+erai|irai)(?! (?:{errand}))',
    ),
    cue(
      'event',
      '{je}(?:vais|allons|va|pars|partons|part|ai|avons|serai|serons|déménage|déménageons|déménage|marie|marions|commence|commençons|visite|rends visite|présente|prends|voyage|passe|\\p{L}+erai|irai|\\p{L}+erons)(?: pas)?(?! (?:{errand}))(?=[^?]{0,100}?\\s(?:{soon})(?!\\p{L}))',
    ),
    cue(
      'event',
      "{je}(?:déménage|déménageons|(?:vais|allons|va) (?:me |nous |se |m')?(?:marier|déménager|voyager|visiter|prendre (?:ma|la) retraite|avoir un (?:bébé|enfant)|acheter une?|commencer un nouveau|courir (?:un|le)))|{my} (?:vol|mariage|examen|opération|rendez-vous|voyage|entretien|déménagement) (?:est|part|commence)",
    ),
    cue(
      'pattern',
      '(?:{often}),?\\s?{je}(?!ai|suis|avais|étais|vais (?:essayer|tester)|voudrais|veux|pense|sais)\\p{L}+(?: pas| jamais)?',
    ),
    cue(
      'pattern',
      "{je}(?:ai|avons) (?:tendance|l'habitude|pour habitude|coutume)|{je}suis {adv}(?:une? )?(?:lève-tôt|couche-tard|habituée?|du matin|du soir)",
    ),
    cue(
      'pattern',
      "{je}(?!ai|suis|avais|étais|voudrais|veux|pense|sais|obtiens|reçois)\\p{L}+(?: (?:jamais|pas))?(?=[^?]{0,90}?(?:\\s|^)(?:{often})(?!\\p{L})| (?:toujours|souvent|jamais|rarement|généralement|parfois|régulièrement))(?! (?:toujours |souvent )?(?:cette|la même|une|l')\\s?erreur)(?: jamais)?",
    ),
    // Transitions and lasting facts in general.
    cue(
      'fact',
      "(?:(?:finalement|enfin|hier|récemment|la semaine dernière|en \\p{L}+|cette année),? )*(?:j'ai|on a|nous avons) (?:\\p{L}+ )?(?:déménagé|quitté|commencé|arrêté|acheté|vendu|adopté|eu (?:un|une|des)|obtenu|perdu|réussi|démissionné|changé|fini|terminé|rejoint|pris (?:un|une|ma)|reçu|divorcé|signé|ouvert|fondé|annulé|reporté|loué|emménagé|rompu|décroché|passé (?:mon|ma)|un |une |deux |trois |\\d)|(?:je (?:me )?suis|on (?:s')?est|nous (?:nous )?sommes) (?:\\p{L}+ )?(?:marié|installé|séparé|devenu|parti|passé|né|inscrit|fiancé|pacsé|remarié|retraité|reconverti|arrivé|revenu|mis)",
    ),
    cue(
      'fact',
      "(?:mon|ma|mes|notre|nos) (?!(?:question|problème|code|erreur|programme|texte|idée|avis|but) )(?:[\\p{L}'-]+ ){0,4}?[\\p{L}'-]+ (?:est|sont|était|a|ont|s'appelle|coûte|commence|finit|vit|habite|travaille|prend|mange|utilise|dure|étudie|joue|va|vient|doit|expire|ne (?:mange|boit|supporte|peut|prend))(?= )",
    ),
    cue(
      'fact',
      "(?:je (?:ne )?(?:prends|joue|conduis|roule|collectionne|gagne|paie|loue|fume|bois|mange|porte|travaille|vis|chante|suis (?:un|une|en|à|chez|au|de|né|enceinte|allergique|diabétique|végane|végétarien\\p{L}*|prof|infirm\\p{L}+|marié\\p{L}*)|fais (?:du|de la|de l'|un|une|des)|dirige|garde|élève|enseigne|m'entraîne|supporte)|j'(?:étudie|utilise|élève|enseigne|habite|entraîne)|on (?:habite|vit|loue|a)|nous (?:habitons|vivons|louons|avons))(?! (?:une question|un problème|une erreur|ça|cela|pas sûr))(?= )",
    ),
  ],
}
