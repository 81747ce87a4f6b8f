/** French. */
import { createSpacedCueNotation } from '../cue-notation.ts'
import type { CueTable } from '../types.ts'

const { cue, opening } = createSpacedCueNotation({
  my: 'm(?:on|a|es)|notre|nos',
  past: "hier(?: soir)?|avant-hier|l'autre jour|la dernière fois|la fois (?:dernière|passée|précédente)|il y a \\S+ \\S+|(?:la semaine|le mois|l'année|l'an|lundi|mardi|mercredi|jeudi|vendredi|samedi|dimanche) (?:dernière?|passée?)|récemment|précédemment|auparavant|tout à l'heure|l'autre fois",
  agreed:
    "(?:a|avait|avons|avions) (?:déjà )?(?:décidé|parlé|discuté|convenu|choisi|prévu|planifié|dit|vu|évoqué|abordé|retenu|résolu|écarté|conclu)|s'était (?:arrêtés?|mis d'accord|dit)|nous (?:étions|sommes) (?:arrêtés|mis d'accord)|s'est (?:arrêtés?|mis d'accord)",
  you: "tu (?:m'|me l'|m'en |l')(?:avais?|as|avez) (?:\\S+ )?(?:recommandée?|conseillée?|dit|parlé|suggérée?|proposée?|mentionnée?|raconté|indiquée?|promis)|vous m'(?:aviez|avez) (?:\\S+ )?(?:recommandé|conseillé|dit|parlé|suggéré|proposé|mentionné)",
  leisure:
    'restos?|restaurants?|cafés?|films?|séries?|livres?|romans?|lectures?|recettes?|plats?|repas|dîners?|desserts?|vins?|cadeaux?|hôtels?|voyages?|destinations?|vacances|musique|chansons?|albums?|playlist|podcasts?|jeux?|loisirs?|tenues?|activités?|randonnées?|sorties?|concerts?|cours',
  work: 'code|fonctions?|script|programme|requête|tests?|classe|variables?|tableau|boucle|méthode|regex|dépôt|branche|commit|serveur|conteneur|docker|git|api|appli(?:cation)?|base de données|table|colonne|fichiers?|dossier|paquet|bibliothèque|framework|module|composant|algorithme|erreurs?|bug|dissertation|rédaction|paragraphe|phrase|brouillon|devoirs|équation|formule|démonstration|solution|python|java|javascript|sql|css|html|ordinateur|navigateur|entrée|sortie|commande',
})

export const FRENCH_CUES: CueTable = {
  language: 'fr',
  void: opening(
    '(?:et |mais )?(?:si (?:je|tu|on)|suppose|supposons|imagine|imaginons)',
    "(?:s'il te plaît,? |et )?(?:retiens|n'oublie pas|n'oubliez pas|souviens-toi (?:de|que)|note|notez|rappelle-toi (?:de|que)|garde en tête)",
    '(?:traduis|traduisez|corrige|reformule|réécris)',
  ),
  ownWords: [
    cue(
      "(?:retrouve|trouve|cherche|montre)(?:-moi)? (?:\\S+ ){0,2}?(?:message|note|texte|passage) (?:où|dans lequel|dans laquelle) (?:j'|je )",
    ),
    cue(
      "m(?:es|on) (?:propres )?(?:mots?|paroles?|termes?|phrase|message) (?:exacts?|exactes?|précis|d'origine)|mes propres (?:mots|paroles|termes)",
      'avec mes',
    ),
    cue(
      "(?:cite|citez|répète|répétez|recopie|copie)(?:-moi)? (?:\\S+ ){0,3}?(?:ce que|les mots que|le message que) (?:j'ai|je t'ai|j'avais|je t'avais) (?:\\S+ )?(?:dit|écrit|raconté|envoyé)",
    ),
    cue(
      "(?:qu'est-ce que j'ai|qu'ai-je|que j'ai|ce que j'ai|j'ai) (?:\\S+ )?(?:dit|écrit|tapé)(?: \\S+){0,2}? (?:exactement|mot pour mot|textuellement|littéralement)|qu'(?:est-ce que j'ai|ai-je) (?:dit|écrit)",
      '{work}',
    ),
    cue(
      "comment (?:ai-je|j'ai|est-ce que j'ai) (?:formulé|tourné|exprimé)|(?:montre|retrouve|redonne)(?:-moi)? (?:\\S+ ){0,3}?(?:message|texte|phrase) que je t'(?:ai|avais)",
    ),
  ],
  whoAmI: [
    cue(
      '(?:quel|quelle) (?:genre|sorte|type) de personne (?:\\S+ ){0,4}?(?:je suis|suis-je)|je suis quel (?:genre|type)',
    ),
    cue(
      "comment (?:je m'appelle|est-ce que je m'appelle|m'appelé-je)|je m'appelle comment|quel est mon (?:pré)?nom|connais mon (?:pré)?nom",
    ),
    cue('qui (?:je suis|suis-je)|je suis qui', 'cite'),
    cue(
      '(?:sais|savez|connais|retenu|souviens|appris|enregistré|mémorisé|rappelles) (?:\\S+ ){0,3}?(?:sur moi|de moi|à mon sujet|à propos de moi|me concernant)|(?:dis|parle|raconte)-moi (?:\\S+ ){0,6}?(?:sur moi|de moi|à mon sujet)|décris-moi(?! \\S)|me connais',
    ),
    cue("quel âge (?:ai-je|j'ai|est-ce que j'ai)|j'ai quel âge|quand suis-je née?|où suis-je née?"),
    cue(
      "où (?:est-ce que je|je|c'est que je) (?:travaille|vis|vit|habite)|où (?:travaillé-je|habité-je)|d'où (?:je viens|est-ce que je viens|viens-je)|où (?:est-ce que |c'est que )?j'habite|j'habite où|je (?:travaille|habite|vis) où|dans quelle (?:ville|entreprise) (?:je|est-ce que je)",
    ),
    cue(
      "(?:quel est|c'est quoi) mon (?:métier|travail|boulot|poste|âge)|qu'est-ce que je fais dans la vie|quelles langues (?:je parle|est-ce que je parle)",
    ),
    cue('(?:bio|biographie|présentation|portrait) (?:de|sur) moi'),
  ],
  earlierTalk: [
    cue('(?:on|nous) (?:a|avons) (?:déjà|fini par|finalement) |(?:a|avons)-(?:t-on|nous) déjà'),
    cue(
      "ça a donné quoi|qu'est-ce que ça a donné|(?:qu'en|comment) est-(?:il|elle) (?:de|advenu)|où en (?:était-on|étions-nous|on était|est-on)|jusqu'où on",
    ),
    cue(
      "(?:comment|quoi|quel(?:le)?s?|où|pourquoi|qu'est-ce|ce) (?:\\S+ ){0,5}?(?:qu')?(?:on (?:avait|était|faisait|disait|pensait)|nous (?:avions|étions|faisions))",
      '{work}',
    ),
    cue(
      "(?:comment|pourquoi|quand) (?:est-ce qu')?(?:on|nous) (?:est|sommes|en est|a|avons) [\\p{L}]+(?:é|és|i|u|us)(?![\\p{L}])",
      '{work}|hommes|humains',
    ),
    cue(
      '(?:continue|continuer|reprends|reprendre|poursuis|poursuivons) (?:\\S+ ){0,6}?(?:hier|la dernière fois|notre)',
    ),
    cue("tu (?:disais|voulais que je|m'avais demandé|m'as demandé de)"),
    cue(
      "(?:qu'est-ce qu'|ce qu'|ce que |que |comme |où |comment |quand |pourquoi |dont |de quoi |là où )(?:on|nous) (?:{agreed})|(?:on|nous) (?:{agreed})(?: \\S+){0,4}? (?:{past})|avons-nous (?:\\S+ )?(?:décidé|parlé|discuté|convenu|choisi|prévu)|(?:{past}),? (?:on|nous) (?:{agreed})",
    ),
    cue(
      "(?:reprenons|reprendre|continuons|on reprend) (?:là )?(?:où|notre|la (?:conversation|discussion)|depuis)|(?:notre|la) (?:dernière|précédente) (?:conversation|discussion|session|séance)|(?:conversation|discussion|session|séance) (?:d'hier|précédente|dernière)|comme la dernière fois",
    ),
    cue('(?:{you})', '{work}'),
    cue("(?:{past}),? tu m'(?:as|avais) |tu m'(?:as|avais) (?:\\S+ ){0,8}?(?:{past})", '{work}'),
    cue(
      "comme je (?:te |vous )?(?:l'ai|l'avais|le) (?:déjà )?(?:dit|mentionné|disais|expliqué|évoqué)|comme (?:déjà )?(?:dit|mentionné|évoqué)(?: plus tôt| précédemment| hier)?|je t'(?:ai|avais) (?:déjà )?(?:parlé|raconté)",
    ),
    cue(
      '(?:te souviens|tu te rappelles|te rappelles-tu|souviens-toi) (?:\\S+ )?(?:quand|du jour|de la fois|de notre|de ce qu|lorsqu)',
    ),
  ],
  ownPast: [
    cue(
      "(?:quand|où|combien|quel(?:le)?s?|qui|avec qui) (?:\\S+ ){0,6}?(?:j'ai|ai-je|j'avais) (?:\\S+ )?[\\p{L}]{2,}(?:é|ée|és|ées|i|u|us|ue|is|it|ert)(?![\\p{L}])",
      '{work}|faux|mal|raté|oublié|ici',
    ),
    cue(
      "(?:quand|où|combien|quels?|quelles?|qu')\\s?(?:\\S+ ){0,3}?(?:est-ce que |)(?:j'ai|je suis|suis-je|ai-je) (?:\\S+ )?(?:allée?|achetée?|mangé|visité|couru|lu|vu|payé|fait|pris|commencé|rencontré|partie?)",
      '{work}|faux|mal',
    ),
    cue(
      "(?:quand|quelle|c'est quand) (?:\\S+ ){0,3}?la dernière fois que je|la dernière fois que (?:j'ai|je suis)",
    ),
    cue("(?:est-ce que )?(?:je t'ai|t'ai-je) (?:déjà )?(?:dit|parlé|mentionné|raconté)", '{work}'),
  ],
  ownFact: [
    cue(
      'm(?:on|a|es) (?:[\\p{L}]+ )?(?:femme|mari|compagne|compagnon|copine|copain|mère|père|parents|fils|fille|enfants?|frère|sœur|soeur|chien|chat|ami|amie) (?:\\S+ ){0,3}?(?:combien|quand|où|quel âge|quoi|comment)',
      '{work}|pourquoi',
    ),
    cue(
      "(?:c'était|c'est|quel(?:le)? était|il s'appelait|elle s'appelait) (?:\\S+ ){0,3}?déjà|déjà(?! \\S)(?<=(?:quoi|quand|où|qui|comment|quel) (?:\\S+ ){0,8}déjà)",
      '{work}',
    ),
    cue(
      "(?:où|que|comme) (?:on|je|nous) (?:va|vais|allons|prend|prends|fait|fais) (?:toujours|d'habitude)",
    ),
    cue("tu (?:connais|sais) (?:{my} goûts|ce que j'aime)"),
    cue(
      "(?:quel(?:le)?s? (?:est|sont|était|étaient)|qui (?:est|sont)|où (?:est|sont|habite|habitent|vit|vivent|travaille)|quand (?:est|tombe)|c'est (?:quand|quoi|qui|où)|comment s'appel(?:le|lent|ait)|quel âge (?:a|ont)) (?:(?:le|la|l'|les)\\s?\\S+ (?:de |d'))?(?:{my}) ",
      '{work}|problème|meilleur',
    ),
    cue(
      '(?:tu te souviens|te souviens-tu|tu te rappelles|te rappelles-tu|tu sais|sais-tu|connais-tu|tu connais) (?:encore )?(?:\\S+ ){0,5}?(?:{my}) ',
      '{work}|pourquoi',
    ),
    cue('tu te souviens|te souviens-tu|tu te rappelles|te rappelles-tu'),
    cue(
      "(?:est-ce que je suis|suis-je|je suis) allergique à (?:quelque chose|quoi|certain)|(?:ai-je|j'ai|est-ce que j'ai) des allergies",
    ),
    cue(
      "(?:quel(?:le)?s?|que|qu'est-ce que) (?:\\S+ ){0,4}?(?:je préfère|j'aime|je prends d'habitude|je bois|je déteste)",
      '{work}',
    ),
    cue("(?:{my}) \\S+ habituel(?:le)?s?|comme d'habitude(?! \\S)"),
  ],
  advice: [
    cue(
      '(?:irait|conviendrait|plairait|iraient) (?:\\S+ ){0,2}?(?:à|pour) (?:notre|ma|mon|mes)|pour (?:notre|ma) famille',
    ),
    cue(
      '(?:trouve|cherche|réserve|conseille)(?:-moi|-nous) (?:\\S+ ){1,4}?(?:près de|à côté de) (?:chez moi|chez nous|mon|ma|moi)',
    ),
    cue("(?:m'|me )(?:irait|irai(?:en)?t|correspondrait|faudrait)(?: (?:bien|mieux))?", '{work}'),
    cue('(?:je|on) (?:mets|met|porte|porter) quoi|quoi (?:mettre|porter)'),
    cue(
      "(?:qu'est-ce (?:que|qu')\\s?|que |quoi )(?:\\S+ ){0,2}?(?:je|on|nous|pourrais-je|puis-je|devrais-je|pourrait-on)\\s?(?:\\S+ ){0,2}?(?:cuisiner|manger|préparer|mettre|porter|regarder|lire|offrir|faire (?:ce (?:soir|week-end)|demain|dimanche|samedi)|boire|écouter|commander)",
      '{work}',
    ),
    cue(
      "quoi (?:offrir|cuisiner|manger|lire|regarder)|(?:je|on) (?:mange|cuisine|lit|regarde) quoi|qu'est-ce (?:que je|qu'on) (?:mange|cuisine|lit|regarde|offre|prépare)",
    ),
    cue(
      "où (?:est-ce qu'on |est-ce que je |est-ce que nous )?(?:\\S+ )?(?:pourrait|pourrais|pourrions|devrait|devrais|devrions|peut|partir|aller)(?:-on|-je|-nous)?\\s?(?:\\S+ )?(?:partir|aller|manger|dîner|dormir|voyager|vacances)",
      '{work}',
    ),
    cue(
      '(?:recommande|conseille|propose|suggère|trouve|recommandes|conseilles|recommander|conseiller|proposer|recommandations?|suggestions?|idées?|conseils?)(?:-moi|-nous|z-moi)? (?:\\S+ ){0,5}?(?:{leisure})',
      '{work}',
    ),
    cue(
      '(?:recommande|conseille|propose|suggère|trouve|idées?|conseils?)(?:-moi|-nous)? (?:\\S+ ){0,8}?(?:pour moi|pour nous|qui me (?:plairait|plaira|plaise|correspond|va)|pour (?:{my}))',
      '{work}',
    ),
    cue(
      "me (?:plairait|plaira|plairaient|conviendrait|convient)|(?:quelqu'un|les gens) comme moi|mes goûts|mon régime|mon budget",
      '{work}',
    ),
    cue('cadeaux? (?:\\S+ ){0,3}?(?:pour|à) (?:{my})'),
    cue(
      '(?:planifie|organise|prépare|fais|crée|établis)(?:-moi|-nous)? (?:\\S+ ){0,4}?(?:week-end|voyage|vacances|menu|entraînement|programme sportif|régime|liste de courses|emploi du temps)',
    ),
    cue('(?:réserve|commande|achète)(?:-moi|-nous| ma| mon| notre| une table)'),
    cue('(?:puis-je|je peux|est-ce que je peux) (?:manger|boire) (?:ça|ceci|cela|ce|cette)'),
    cue(
      '(?:devrais-je|est-ce que je devrais|je devrais) (?:accepter|quitter|déménager|acheter)',
      '{work}',
    ),
  ],
}
