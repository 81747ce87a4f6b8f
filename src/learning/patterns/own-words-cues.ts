/**
 * Cues that a message contains a text which is not the user's own statement, in all languages: a task on a text, a dictated
 * letter, role-play, reported speech, sarcasm. Languages share the tables, because a sentence in one language matches no
 * cue of another.
 */
import { createSpacedNotation, createUnspacedNotation } from './grammar-notation.ts'

const { anywhere, opening } = createSpacedNotation({
  lead: "(?:(?:ok|okay|so|now|please|pls|just|and|but|hey|hi|let us|let's|for a moment|for a second|could you|can you|i want you to|i'd like you to|what if we|bitte|por favor|ahora|agora|maintenant|jetzt|mal|also|alors|pues|entonces)[, ]+){0,5}",
  // English
  deixis:
    'this|that|it|these|those|them|the (?:following|above|below|attached|\\p{L}+ (?:below|above)|text|paragraph|sentence|message|email|mail|letter|passage|excerpt)|below|following|above',
  textNoun:
    'texts?|paragraphs?|sentences?|e-?mails?|mails?|letters?|cover letters?|messages?|posts?|tweets?|reviews?|essays?|stor(?:y|ies)|poems?|lyrics|songs?|verses?|chapters?|scenes?|scripts?|dialogues?|monologues?|speech(?:es)?|toasts?|bios?|biograph(?:y|ies)|profiles?|summar(?:y|ies)|about[- ]me|testimonials?|ads?|captions?|headlines?|drafts?|transcripts?|conversations?|chats?|logs?|diary(?: entr(?:y|ies))?|quotes?|excerpts?|passages?|abstracts?|articles?|tickets?|complaints?|interviews?|statements?|paraphrases?|translations?|opening lines?|novels?|blog posts?|newsletters?|replies|reply|responses?|answers?|wording|phrasing|lines?|comments?|feedback|report|documents?|page|website|slides?|announcement|invitation|obituary|menu|recipe|snippets?|code|yaml|json|paste|note to',
  language:
    'english|german|french|spanish|italian|portuguese|dutch|japanese|chinese|mandarin|korean|russian|polish|swedish|danish|norwegian|finnish|turkish|greek|arabic|hindi|czech|hungarian|latin|ukrainian|hebrew|thai|vietnamese|indonesian|catalan|romanian',
  // Names of languages in German, Spanish and Portuguese, French.
  deLanguage:
    '(?:britisches? )?(?:englisch|deutsch|französisch|spanisch|italienisch|portugiesisch|japanisch|chinesisch|koreanisch|russisch|polnisch|niederländisch|türkisch|schwedisch|dänisch|griechisch|tschechisch|arabisch|latein)(?:e|en)?',
  esLanguage:
    'ingl[ée]s|ingl[eê]s|franc[ée]s|franc[eê]s|alem[áa]n|alemão|españ[oo]l|espanhol|italiano|portugu[ée]s|portugu[eê]s|japon[ée]s|japon[eê]s|chino|chinês|mandarín|mandarim|coreano|ruso|russo|polaco|neerland[ée]s|holand[ée]s|holandês|turco|sueco|griego|grego|árabe|catalán|catalão|latín|latim',
  frLanguage:
    'anglais|français|allemand|espagnol|italien|portugais|japonais|chinois|coréen|russe|polonais|néerlandais|turc|suédois|grec|arabe|latin',
  length:
    '(?:\\d+|one|two|three|four|five|six|ten|a|a few|fewer|half|max(?:imum)?|at most|less than|under|about|around|roughly|only|just)(?: (?:\\d+|a|the|as many|of the|or less|or fewer))* (?:words?|sentences?|lines?|characters?|chars?|bullets?|bullet points?|points?|paragraphs?|length|size)',
  deLength:
    '(?:\\d+|eine[mnr]?|ein|zwei|drei|vier|fünf|zehn|wenige[nr]?|die hälfte|maximal|höchstens|unter|ca\\.?|etwa)(?: \\d+)? (?:wörter[n]?|sätze[n]?|satz|zeilen?|zeichen|stichpunkte[n]?|punkte[n]?|absatz|länge)',
  esLength:
    '(?:\\d+|un[oa]?|uma?|dos|dois|duas|tres|três|cuatro|cinco|pocas|poucas|mitad|metade|máximo|menos de|até|hasta)(?: \\d+)? (?:palabras?|palavras?|frases?|oraci(?:ón|ones)|líneas?|linhas?|caracteres|puntos?|pontos?|tópicos|viñetas|párrafo|parágrafo)',
  frLength:
    '(?:\\d+|une?|deux|trois|quatre|cinq|quelques|moitié|maximum|moins de|max)(?: \\d+)? (?:mots?|phrases?|lignes?|caractères|points?|puces|paragraphe)',
  workVerb:
    'translate|translating|rewrite|rewriting|reword|rephrase|paraphrase|proofread|proof-read|proof read|copyedit|copy-edit|spell-?check|polish|summari[sz]e|sum up|condense|shorten|tl;?dr|simplify|edit|revise|reformulate|transcribe|annotate|punctuate|classify|categori[sz]e|label|tag|paraphrasing|summari[sz]ing|proofreading',
  softVerb:
    'fix|correct|check|improve|tidy up|tidy|clean up|clean|tighten|review|critique|rate|grade|score|analy[sz]e|convert|turn|transform|change|put|make|format|reformat|extract|pull out|list|parse|expand|continue|finish|complete|extend|rank|read|look at|look over|go over|help with|explain|evaluate|judge|adapt|redo|cut|trim|split|number|sort|identify|find|count|highlight|remove|replace|capitali[sz]e|anonymi[sz]e|redact|say|reply to|respond to|answer|react to',
  taskRoot:
    'translat(?:e[ds]?|ing|ions?)|rewrit\\p{L}+|rephras\\p{L}+|reword\\p{L}*|paraphras\\p{L}+|proofread(?!er)\\p{L}*|summari[sz]\\p{L}+|shorten\\p{L}*|condens\\p{L}+|übersetz(?!er)\\p{L}*|umformulier\\p{L}*|zusammenfass\\p{L}*|kürz(?:e|en|er|t)|traduc(?!tor)\\p{L}*|traduz\\p{L}*|tradução|resum(?:e|ir|a|en|o)|acort\\p{L}*|encurt\\p{L}*|tradui\\p{L}*|traduction|raccourc\\p{L}*|reformul\\p{L}*|reescri\\p{L}*|reescrev\\p{L}*',
  // German
  deDeixis:
    'das|dies(?:e[nrms]?)?|es|ihn|folgende[nrms]?|(?:den|diesen|der|dem|die|diese|meinen|meine|mein) (?:\\p{L}+ )?(?:text|satz|absatz|brief|mail|e-mail|nachricht|abschnitt|entwurf|bewerbung|anschreiben|artikel|sätze|kommentar|beitrag|post|aufsatz|gedicht|lied|strophe|geschichte|rede)',
  deVerb:
    'übersetz\\p{L}*|uebersetz\\p{L}*|korrigier\\p{L}*|verbesser\\p{L}*|umformulier\\p{L}*|formulier\\p{L}*|umschreib\\p{L}*|zusammen(?:fassen|fasse|fass)|fasse?|kürz\\p{L}*|überarbeit\\p{L}*|glätt\\p{L}*|prüf\\p{L}*|vereinfach\\p{L}*|analysier\\p{L}*|klassifizier\\p{L}*|kategorisier\\p{L}*|extrahier\\p{L}*|wandle|verwandle|redigier\\p{L}*|lektorier\\p{L}*|paraphrasier\\p{L}*|schreib\\p{L}* (?:.{0,30} )?um|bewerte',
})
const unspaced = createUnspacedNotation({})

/** "…: I love tea": after a colon, what follows belongs to the text that the words before announce. */
export const TEXT_TASKS: readonly RegExp[] = [
  // English: a verb that is only used of texts; softer verbs need "this" or a text, or a form to turn the text into.
  opening(
    "(?:(?:please|pls|plz|hey|hi|hello|ok|okay|now|also|and|so|just|quick(?:ly)?|can|could|would|will|you|u|i'd|like|love|to|need|want|help|me|us|help me|let's|kindly|mind|if|possible)[,:]? ){0,8}(?:{workVerb})",
  ),
  anywhere(
    '(?:can|could|would|will|please|pls|plz|help me|to|you|and|then|i need to|mind|for) (?:{workVerb})(?:,| and | )(?:.{0,40} )?(?:{deixis}|my|these|a few|for me|{textNoun})',
    '(?:{softVerb})(?: up)?\\s?:|(?:comma|grammar|spelling|fact|sanity|tone|vibe|style)[- ]checks?|(?:filler words|typos|commas|mistakes|errors|title for|caption for|headline for|synonyms? for|word for|version)(?=.{0,60}(?:[:\\n?!]|$))(?! (?:control|of (?:python|node|java|windows|ios|android|the app)))',
    '(?:check|review|correct|improve|edit|read|rate|critique|fix|look at|go over|have a look at|grade|mark|compare|phrase|word|format|analy[sz]e|polish|evaluate|send) (?:out |over |up )?(?:this|that (?:better|nicely|right|for)|the following|(?:(?:my|our|the|this|that|these|those|two|both|all|each|his|her|their|a|an|some|below|following) ){1,2}(?:\\p{L}+ ){0,3}?(?:{textNoun}))(?! (?:problem|issue|error|bug|crash|week|month|year|up|morning|evening|movie|film|show|car|bike))',
    '(?:want|need|like|prefer|have) (?:this|it|a|an) (?:to (?:be|sound|read|feel|look) )?(?:\\p{L}+ ){0,2}?(?:\\p{L}+er|more \\p{L}+|less \\p{L}+|better|nicer|shorter)(?: version)?(?=\\s*[:\\n.])|(?:wrong|right|off|missing|good|bad|better|improve|change) (?:with|in|about|for|to) (?:my |this |the |that )?(?:{textNoun}|this|it)(?=\\s*[?:\\n])|anything (?:missing|off|wrong|to add|you would change)|too (?:long|short|formal|harsh|rude|direct|much)\\?',
    '(?:{softVerb})(?:,? (?:and|or) (?:{softVerb}|{workVerb}))? (?:me )?(?:the )?(?:\\p{L}+ )?(?:grammar|spelling|punctuation|typos|wording|tone|style|errors|mistakes|commas|tense|english|flow)',
    '(?:grammar|spelling|typos?) (?:check|mistakes?|errors?|correct|ok(?:ay)?|fix(?:ed)?|right|help)|grammatically|spell-?check|typos\\?|any (?:grammar |spelling )?(?:mistakes|errors|typos)',
    '(?:make|put|turn|change|convert|transform|rewrite|get) (?:{deixis}|my (?:\\p{L}+ )?(?:{textNoun})|the (?:{textNoun})|each|everything)(?: (?:{textNoun}))?(?: \\p{L}+)? (?:into|in|to|sound|read|more|less|shorter|longer|clearer|nicer|friendlier|funnier|better|simpler|warmer|punchier|crisper|concise|formal|polite|professional|as|a bit|a little|slightly|flow|past|present|first|third)',
    '(?:turn|convert|transform|change|make|put|format) (?:.{0,30} )?(?:into|to|as) (?:an? )?(?:\\p{L}+ )?(?:bullet points?|bullets|json|csv|table|tweet|haiku|poem|list|past tense|present tense|third person|first person|passive voice|active voice|formal|{language}|headline|slogan|limerick|rap|sonnet|{textNoun})',
    '(?:is|are|does|do|would|was) (?:{deixis}|my|the)(?: \\p{L}+){0,2}? (?:{textNoun}|sentences?|sound|sounds|read|make sense|flow|work|look|correct|right|ok|okay|grammatical|written|good|clear|too)(?! (?:of|for me|if|that))(?=.{0,40}[?:])|(?:is|are) (?:this|that|the following) (?:\\p{L}+ )?(?:{textNoun}|correct|right|ok|grammatical)',
    "(?:how|what) (?:does|do|would|about|is|are|was|'s) (?:you think (?:of|about) )?(?:the (?:tone|sentiment|style|gist|meaning|mood|message|main (?:point|idea)|theme|topic)s? (?:of|in) )?(?:{deixis}|the|my|each)(?: (?:new|latest|first|whole|short|little|rough))?(?: (?:{textNoun}))?(?: (?:sound|read|look|come across|be|say|mean|saying|strike you|like))?(?=\\s*[:?\\n]| (?:in|for|to you|as|so far|of|on) )(?! .{0,20}(?:for me|i ))",
    '(?:what do you think|thoughts|feedback|opinions?|comments|suggestions|your take|any advice)(?: on| of| about)? (?:{deixis}|my (?:\\p{L}+ )?(?:{textNoun})|the (?:{textNoun}))',
    "(?:here'?s|here is|here are|below is|below are|this is|these are|attached is|see|got|received|found|read|saw|i wrote|i've written|wrote|i have) (?:(?:my|the|a|an|this|some|her|his|their|our|today's|one of|following) )?(?:.{0,25} )?(?:{textNoun})(?= (?:today|yesterday|from|of|for|to|about|by|i|that|so|on|in|below|above|and)|\\s*[:.,?!\\n-]|\\s*$)(?=.{0,80}(?:$|[:\\n]))",
    "(?:how (?:do|would|can|to)|what(?:'s| is| would)) (?:you |i |we |one )?(?:say|be|the|put|this|that|write|express)?(?: .{0,40})? (?:in|into) (?:{language})",
    '(?:in|into|to) (?:{language})(?:,? (?:please|pls|plz|thanks))?(?=\\s*[:\\n?.-]|\\s*$)|(?:{language}) (?:to|->|into) (?:{language})|the (?:{language}) (?:for|version|translation|equivalent)|(?:{language}) (?:translation|version)(?: please| pls)?',
    '(?:in|into|to|as|under|within|use|using|max|down to|of|by|than) (?:{length})|(?:cut|trim|boil|get|whittle|pare|bring|slim|chop)(?: \\p{L}+){0,4}? down|(?:cut|trim|reduce|halve|compress|abridge|tighten|prune) (?:{deixis}|my|the|by)|(?:shorter|more concise|more compact|snappier|punchier|simpler|briefer|less wordy|crisper|too wordy|too long|too lengthy|one-?liner|elevator pitch|gist|key takeaways|nutshell|abstract)(?=.{0,50}(?:[.:?!\\n]|$))',
    '(?:as|into|in|to|with|use|using) (?:an? )?(?:\\p{L}+ ){0,2}?(?:bullets?|bullet[- ](?:points?|form|list)|bulleted|numbered list|checklist|outline|dot points?|list form|key points|keywords|table)|(?:bullets?|bullet points?|bulletize)(?=\\s*[:.!?\\n]|$| (?:please|pls|version|form|only|for|of))',
    '(?:auf|ins?) (?:{deLanguage})(?: (?:übersetzt|bitte|übertragen))*|(?:{deLanguage}) (?:fassung|version|übersetzung)|(?:auf|in|mit|unter|als|von|maximal|höchstens) (?:{deLength})|kürzer|knapper|zu lang|einzeiler|stichpunkt\\p{L}*|stichwort\\p{L}*|aufzählung|spiegelstrich\\p{L}*|zusammenfassung|kurzfassung|kern(?:aussage|punkte)\\p{L}*',
    '(?:en|em|al|ao|para|para el|para o|a|del|do) (?:{esLanguage})(?=\\s*[:.,;?!\\n-]|\\s*$| (?:por favor|pf|pls|porfa|británico|formal|natural|correcto))|(?:versión|versão|traducción|tradução) (?:en|em|al|ao|a|para|de|corta|curta|resumida)|(?:en|em|a|de|con|com|usa|até|hasta|máximo) (?:{esLength})|más (?:corto|corta|breve|conciso|cort[ao]s)|mais (?:curto|curta|breve|conciso|enxuto)|viñetas|en (?:una )?(?:lista|puntos)|(?:em|por|numa) (?:uma )?(?:lista|tópicos)|marcadores|puntos clave|pontos[- ]chave|resumen|resumo|demasiado larg[oa]|longo demais|muito longo',
    '(?:en|vers) (?:l.?)?(?:{frLanguage})(?=\\s*[:.,;?!\\n-]|\\s*$| (?:stp|svp|merci|courant|britannique|correct))|(?:version|traduction) (?:en|courte|abrégée|plus)|(?:en|à|de|avec|sous) (?:{frLength})|plus (?:court|courte|bref|brève|concis|concise|condensé)|(?:en|sous forme de|liste à) (?:puces|liste|points)|points clés|résumé|trop (?:long|longue)|abrège\\p{L}*|condense\\p{L}*',
    '{taskRoot}',
    '(?:variations?|versions?|alternatives?|synonyms?|rewrites?|summary|tl;?dr|translation|paraphrase|bullet points?|rewording) (?:of|for|from) (?:{deixis}|my|the)',
    '(?:classify|categori[sz]e|label|tag|rate|sentiment|positive or negative|fact or opinion|spam or|tone|which (?:of these|category|emotion|language))(?= .{0,60}(?:{textNoun}|{deixis}|as|each|these|following|:|\\n|\\?|$))(?=.{0,80}(?:{textNoun}|{deixis}|each|these|following|or))',
    '(?:extract|list|identify|find|pull out|give me|highlight|underline|count|name) (?:all |the |every |any )*(?:\\p{L}+ ){0,3}?(?:names?|places?|dates?|entities|keywords|key points|verbs|nouns|adjectives|action items|facts|takeaways|main points?|errors|words|mistakes|people|locations|numbers)(?=.{0,40}(?:from|in|of|:|\\n|$))',
    '(?:bullet points|bulleted list|third person|past tense|shorter|in one sentence|in \\d+ words|to \\d+ words|under \\d+ words|in a (?:nutshell|sentence))(?:,? (?:please|pls|plz|thanks|version))*\\s*[:.?\\n!]?$',
    '(?:continue|finish|complete|extend|carry on|keep writing|write the next (?:part|chapter|line|verse)) (?:with )?(?:my|this|the|it|writing)',
    '(?:reply|respond|answer|react) to (?:this|that|the|it|her|him|them|my|these)(?:(?: \\p{L}+){0,3}) ?(?=[:?.\\n]|$)|what (?:should|do|would|can|could) (?:i|we|you) (?:\\p{L}+ )?(?:answer|reply|respond|say|write back)|how (?:should|do|would|can) i (?:answer|reply|respond)',
    '(?:written by|write like|sounds? like) (?:a |an )?(?:human|ai|robot|native|bot)|native speaker|sounds? (?:natural|native|weird|ok|off|right|rude|too|good|fine)',
    '(?:practi[cs]e|example|sample|test|dummy|placeholder) (?:sentences?|texts?|messages?|data|input|prompt)|lorem ipsum|homework|exercise \\d|fill in the (?:blank|gap)s?|dictation|flashcards?',
  ),
  // German
  opening(
    '(?:(?:bitte|hey|hallo|hi|kannst|könntest|könnten|können|würdest|magst|du|sie|mir|mal|kurz|schnell|und|jetzt|ich|möchte|will|brauche|einmal|das|hilf) ){0,7}(?:{deVerb})',
  ),
  anywhere(
    '(?:komma\\p{L}*|zeichensetzung|rechtschreibung|satzbau) (?:prüfen|checken|setzen|korrigieren|ok)|(?:setz|setze) (?:.{0,20} )?(?:kommas?|satzzeichen)|(?:zu|etwas) (?:lang|kurz|förmlich|hart|steif)\\?|passt das|was (?:antworte|schreibe|sage) ich|(?:kannst|könntest|würdest|könnten|bitte|mir|du|mal|kurz|sie|mach|lass|hilf) (?:.{0,50} )?(?:{deVerb})',
    '(?:{deDeixis}) (?:.{0,40} )?(?:{deVerb}|auf (?:englisch|deutsch|französisch|spanisch)|ins? (?:englische|deutsche|französische|spanische|italienische|dritte person))',
    '(?:mach|mache|machst|machen sie) (?:daraus|das|es|mir|den|die)(?: .{0,30})?(?:formeller|höflicher|kürzer|länger|besser|lockerer|netter|schöner|verständlicher|tweet|stichpunkte|liste|gedicht|text|daraus|satz)|in (?:die )?(?:dritte[nr]?|erste[nr]?) person|als stichpunkte|in stichpunkten|in einem satz|in \\d+ (?:wörtern|sätzen)',
    '(?:ist|sind|klingt|liest sich|stimmt|wie klingt|wie liest sich|wie findest du|was hältst du von|was sagst du zu) (?:{deDeixis})(?! (?:wetter|idee))(?=.{0,60}(?:[?:]|$))|grammatik\\p{L}*|rechtschreib\\p{L}*|tippfehler|fehler (?:in|drin)|feedback zu',
    '(?:hier|anbei|unten|folgt|folgender|folgende) (?:ist |sind |kommt |noch )?(?:mein|meine|der|die|das|ein|eine|dieser|diese)? ?(?:\\p{L}+ ){0,2}(?:text|entwurf|mail|e-mail|brief|gedicht|songtext|lied|kapitel|geschichte|bewerbung|anschreiben|protokoll|chat|chatverlauf|gespräch|artikel|absatz|rede|nachricht|bewertung|beschwerde)',
    'was heißt .{0,60}auf \\p{L}+|wie sagt man|wie sage ich|auf (?:englisch|deutsch|französisch|spanisch|italienisch|japanisch)(?:,? bitte)?\\s*(?=[:\\n]|$)|ins (?:englische|deutsche|französische|spanische|italienische)|stimmung|tonfall|tonalität|welche (?:kategorie|emotion)',
    '(?:was|wie) (?:soll|kann|könnte|würdest) (?:ich|du) (?:darauf |ihm |ihr |denen )?(?:antworten|schreiben|erwidern)|antworte (?:darauf|auf)|schreib(?:e)? (?:die|meine|das) (?:geschichte|gedicht|lied|text) weiter|setz\\p{L}* .{0,30}fort',
  ),
  // Spanish and Portuguese
  anywhere(
    '(?:traduc\\p{L}*|tradúce\\p{L}*|corr[ií]g\\p{L}*|corregir\\p{L}*|corrige\\p{L}*|reescr[ií]b\\p{L}*|reescrev\\p{L}*|reformul\\p{L}*|resum[ea](?!n)|resúme\\p{L}*|resumir\\p{L}*|acort\\p{L}*|encurt\\p{L}*|parafrase\\p{L}*|redact\\p{L}*|revis[ae]\\p{L}*|pul[ei]\\p{L}*|clasific\\p{L}*|classifi\\p{L}*|simplific\\p{L}*|extra[ei]\\p{L}*|analiz\\p{L}*|analis[ae]\\p{L}*|traduz\\p{L}*|corrij\\p{L}*|resum[aio]\\p{L}*|melhor[ae](?:r)?|mejor[ae](?:r)?)(?= (?:.{0,40} )?(?:este|esta|esto|estos|estas|est[ae]s?|isto|isso|ess[ae]s?|lo siguiente|el siguiente|la siguiente|o seguinte|a seguinte|al |a|para o|o texto|el texto|la frase|a frase|mi|meu|minha|em|en|los|las|as|os|por favor|abaixo|abajo)|\\s*[:\\n]|me|lo|la)',
    '(?:pon|põe|ponha|coloca|añade|agrega) (?:las |os |as |los |uns |unas )?(?:comas|vírgulas|tildes|acentos|signos|puntuación|pontuação)|(?:qué|que|o que) (?:cambiarías|mudarias|mudaria|cambiaría)',
    '(?:hazlo|ponlo|pásalo|pásala|ponla|hazla|conviértelo|transf[óo]rmalo|conviértela|deixa|deixe|passa|passe|põe|ponha|transforma|transforme|torna|torne|faz|convierte|pasa|pon)(?: (?:esto|isso|isto|o|a|este|esta|el texto|o texto))?(?: .{0,25})? ?(?:más|mais|a|en|em|para|un|numa?)(?: \\p{L}+)? ?(?:formal|corto|curt[oa]|breve|educad[oa]|amable|persona|pessoa|tweet|tuit|lista|tópicos|viñetas|pasado|passado|inglés|inglês|profesional|profissional|natural|poema)',
    '(?:cómo|como) (?:se dice|se diz|digo|suena|soa|quedaría|ficaria|está|te parece)|suena (?:bien|natural)|soa (?:bem|natural)|(?:es|está|esta|é) (?:correct[ao]|bien|certo|certa|correta)(?: .{0,20})?(?=[?:])|gramática|gramatical|ortografía|ortografia|errores|erros de|(?:al|para o|em|en|ao|para) (?:inglés|francés|alemán|español|italiano|portugués|inglês|francês|alemão|espanhol|japonés|japonês)(?:,? por favor)?\\s*(?=[:\\n.?]|$)',
    '(?:aquí (?:está|tienes|va)|aqui (?:está|vai|tens)|este es|esta es|este é|esta é|segue|abaixo|lee|leia|lê) (?:o |a |el |la |mi |meu |minha |un |uma? |est[ea] )?(?:\\p{L}+ )?(?:texto|borrador|rascunho|correo|e-?mail|carta|poema|letra|canción|canção|capítulo|cuento|conto|historia|história|mensaje|mensagem|artículo|artigo|reseña|resenha|discurso|diálogo)',
    '(?:qué|que|o que) (?:te parece|opinas|opina|acha|achas|piensas|le parece)(?: de| do| da| dess[ea]| dest[ea])? (?:este|esta|esto|isto|isso|mi|meu|minha|el|la|o|a)(?: \\p{L}+)?|continúa|continua (?:la|a|mi|minha|o|esta|essa)|(?:qué|que|o que) (?:le |lhe |les )?(?:respondo|contesto|respondería|responderia|debo responder|devo responder)|tono|tom d|sentimento|sentimiento',
  ),
  // French
  anywhere(
    '(?:tradui\\p{L}*|corrig\\p{L}*|réécri\\p{L}*|reformul\\p{L}*|résum\\p{L}*|raccourci\\p{L}*|paraphras\\p{L}*|améliore\\p{L}*|relis\\p{L}*|relire|simplifi\\p{L}*|class(?:e|er|ez|ifie\\p{L}*)|catégoris\\p{L}*|extrai\\p{L}*|analys\\p{L}*|reli)(?= (?:.{0,40} )?(?:ce|cet|cette|ces|ça|cela|le|la|les|suivant|en|mon|ma|moi|texte|phrase)|\\s*[:\\n-]|\\s*$)',
    '(?:mets|ajoute|corrige) (?:la |les |des )?(?:ponctuation|virgules|accents)|(?:tu|vous) changerai(?:s|ez) quoi|que changer|trop (?:long|court)',
    '(?:rends|rendez|mets|mettre|mettez|met|transforme|passe|fais|tourne)(?:[- ](?:le|la|les|ça|ce|cela|en|moi))*(?: .{0,25})? (?:plus|moins|en|à la|au|un|une)(?: \\p{L}+){0,2}',
    "comment (?:on dit|dit-on|dire|je dis|ça sonne|traduire)|ça sonne|(?:est-ce|c'est) (?:que )?(?:.{0,20} )?(?:correct|juste|bien écrit|français)|grammaire|orthographe|fautes|en (?:anglais|français|allemand|espagnol|italien|japonais)(?:,? (?:s'il te plaît|stp|svp|merci))?\\s*(?=[:\\n.?]|$)|(?:à la|en) troisième personne|en une phrase",
    "(?:voici|voilà|ci-dessous|c'est) (?:le|la|les|mon|ma|un|une|mes|du|des)? ?(?:\\p{L}+ )?(?:texte|brouillon|mail|courriel|lettre|poème|paroles|chanson|chapitre|histoire|message|article|avis|discours|dialogue|conversation)|(?:que|qu'est-ce que) (?:penses-tu|tu penses|pensez-vous|vous pensez|je réponds|répondre)|continue (?:mon|l'|cette|le|la)|que (?:dois-je |devrais-je )?répondre|(?:quel est le )?ton (?:de|du)",
  ),
  // Chinese and Japanese
  // A language to turn the text into, unless the user speaks or learns it.
  anywhere(
    '(?<!(?:speak|speaking|learn|learning|study|studying|teach|teaching|read|fluent) )(?:in|into|to|as) (?:\\p{L}+ )?(?:{language})(?! (?:class|course|lessons?|teacher|exam|food|restaurant|speaker|school|wife|husband|man|woman|culture|company))(?=\\s*[:?.\\n!,]|\\s*$| (?:please|pls|for|so|because|would|be|than))',
    '(?:the |a )?(?:{language})(?:,| one|:)? (?:please|pls|version|equivalent|translation|words? for|for this|for that)',
    '(?:say|put|write|phrase|express|word|spell|render|make|send|need|want|give me|have|get) (?:{deixis}|my message|the message) (?:\\p{L}+ ){0,3}?(?:in|into|to|as|so|for|better|nicer|properly|nicely|differently|correctly|right|again|more|less|shorter|down|up)',
    '(?:spruce|punch|jazz|touch|dress|sharpen|smooth|polish|clean|fluff|beef|tone|dumb|water|liven|tidy|brush) (?:up|out|down)? ?(?:{deixis}|my|the|up|down|out)|(?:bullet|list) (?:this|it|that|these|the)|(?:gist|essence|tl;?dr|main points?|short version|cliff ?notes?|key facts)|(?:friendlier|nicer|clearer|warmer|politer|kinder|funnier|catchier|stronger|softer|smoother|livelier|formal|polite|professional|casual|fewer words|half as long|as a list)(?:,? (?:please|pls|for me|version|tone|language))*\\s*[:?!.\\n]',
    '(?:mach|formulier|schreib|kling|les|gestalt)\\p{L}* (?:.{0,40} )?(?:besser|schöner|freundlicher|professioneller|formaler|formeller|lockerer|sachlicher|einfacher|verständlicher|höflicher|netter|eleganter|flüssiger|witziger|diplomatischer|kompakter|prägnanter|förmlicher|anders|neu)|(?:schöner|freundlicher|professioneller|formeller|höflicher|lockerer|flüssiger) (?:formulier\\p{L}*|ausdrücken|schreiben|machen)|(?:besser|anders) (?:formulier\\p{L}*|ausdrück\\p{L}*|sagen|schreiben)|wie (?:klingt|wirkt|liest)|was meinst du zu|verständlich\\?|in (?:deutsch|englisch|französisch|spanisch)|(?:daraus|davon) (?:bitte )?(?:eine|ein|einen|drei|zwei|fünf)',
    '(?:haz|deja|pon|dale|dé?jalo|que suene|suene|escríbe\\p{L}*|mejora|mejóra\\p{L}*|arregl\\p{L}*|arrégla\\p{L}*|redáct\\p{L}*|dilo|ponlo|hazlo|quiero que|necesito que) (?:.{0,40} )?(?:más|menos|mejor|en (?:{esLanguage})|formal\\p{L}*|profesional\\p{L}*|amable|natural)|(?:{esLanguage})(?:,? por favor| porfa)|(?:en|al) (?:{esLanguage})\\??$|cómo (?:quedaría|suena|se escribe|puedo decir|digo)|está bien (?:escrit[oa]|así)|qué tal (?:está|queda|suena)',
    '(?:faz|deixa|deixe|põe|coloca|coloque|torna|torne|escreve|escreva|melhora|melhore|arruma|arrume|ajeita|ajeite|passa|passe|verte|verta|quero que|preciso que) (?:.{0,40} )?(?:mais|menos|melhor|em (?:{esLanguage})|para (?:o )?(?:{esLanguage})|formal\\p{L}*|profissional\\p{L}*|natural)|(?:{esLanguage})(?:,? por favor)|(?:em|para) (?:{esLanguage})\\??$|como (?:ficaria|soa|se escreve|posso dizer|digo)|está bem (?:escrit[oa]|assim)|que tal (?:está|ficou|soa)',
    "(?:fais|rends|mets|écris|formule|dis|tourne|présente|sonne)\\p{L}*(?:[- ](?:le|la|moi|ça))* (?:.{0,40} )?(?:plus|moins|mieux|en (?:{frLanguage})|autrement|formel\\p{L}*|professionnel\\p{L}*|poli\\p{L}*|naturel\\p{L}*)|(?:{frLanguage})(?:,? (?:s'il te plaît|stp|svp))|(?:en|vers l.) ?(?:{frLanguage}) ?\\??$|comment (?:tu |on )?(?:dirais|écrirais|formuler|écrire|ça se dit)|c'est (?:bien écrit|correct|clair)",
  ),
  opening(
    '\\p{L}{2,}[áéíóú]\\p{L}*(?:me|nos)?l[oa]s?(?= |$|[:.,?!\\n])|(?:{language}|{deLanguage}|{esLanguage}|{frLanguage})(?:,? (?:please|bitte|por favor|stp))?\\s*[:：]',
  ),
  unspaced.anywhere(
    '(?:用|成|为|以)(?:英语|英文|日语|日文|法语|法文|德语|德文|西班牙语|西语|韩语|中文|葡萄牙语|意大利语)|(?:英语|英文|日语|法语|德语|西班牙语|韩语)(?:版|翻译|是什么|怎么|的话)|(?:写|改|说|变|弄|换)(?:得|成|个|一下)?.{0,6}(?:更|一点|一些|些|正式|口语|礼貌|通俗|专业|幽默|委婉|简单)|(?:更|再)(?:正式|礼貌|自然|流畅|专业|委婉|口语化|幽默|生动|通顺|精炼|短)|帮我(?:看看|看一下|检查|整理|润|优化|提炼|排版)|优化|提炼|整理成|梳理|要点|三句话|两句话|几句话',
    '(?:英語|英文|日本語|和文|中国語|韓国語|フランス語|ドイツ語|スペイン語|イタリア語|ポルトガル語)(?:に|へ|で|版)(?!.{0,8}(?:話|しゃべ|勉強|習))|(?:もっと|より|少し|もう少し).{1,12}(?:して|く|に)(?:$|ください|くれ|もら|直|書|表現)|(?:書き|言い)(?:換え|直)|(?:見|確認|チェック|修正|整理|推敲|改善)して(?:ください|ほしい|もらえ|くれ|$)|要点|三行|一行|短い文',
  ),
  unspaced.anywhere(
    '要点|列表|列成|列点|条目|清单形式|短一点|简短|字以内|个字|一句话|简洁|用一句|太长|英文版|英语怎么|中文版|变成|变得|加标点|标点|翻译|译成|译为|翻成|润色|改写|重写|改成|改得|改一下|修改|改改|缩短|精简|总结|概括|归纳|摘要|校对|语法|错别字|病句|通顺|这句话|这段话|这段|上面|以下|下面|如下|续写|接着写|分类|归类|提取|分析.{0,10}(?:情感|语气|文字|评论)|情感|语气|怎么说|用(?:英语|英文|日语|法语|德语).{0,4}说|改为|转成|扩写|点评|怎么样[:：]|怎么回复|怎么回|歌词|这首|这篇|原文|读起来',
    'リスト(?:に|化)|一文に|一言で|文字以内|字以内|短め|もっと短|短縮|簡潔|長すぎ|(?:英語|日本語|中国語|韓国語|フランス語|ドイツ語|スペイン語)(?:に|で|へ)(?:$|[:：。、お]|すると|直|変|頼|翻|言)|句読点|訳して|翻訳|英訳|和訳|英語にして|英語で(?:何|どう|お願い|書)|日本語にして|添削|校正|直して|書き直|要約|まとめて|短くして|言い換え|リライト|この文|この文章|上の文|次の文|以下の|下記の|上記の|文法|誤字|自然(?:です|な)か|敬語に|丁寧に|カジュアルに|箇条書き|続きを書|分類して|抽出して|感情|トーン|返信|どう返|歌詞|添削|文章を|三人称|分析して|読みやすく',
  ),
]

/** "I prefer the following format: …" is the user's own, although it names a text. */
export const OWN_PREFERENCES: readonly RegExp[] = [
  opening(
    "(?:i|we) (?:\\p{L}+ )?(?:prefer|like|love|hate|dislike|enjoy|speak|study|teach|learn)(?!d)|i'm (?:a |an |learning|studying|fluent)|my favou?rite|ich (?:\\p{L}+ )?(?:mag|liebe|hasse|bevorzuge|lerne|spreche)|(?:yo )?(?:prefiero|odio|hablo|me gusta[n]?|me encanta[n]?)|(?:eu )?(?:prefiro|odeio|falo|gosto de|adoro)|je (?:préfère|déteste|parle)|j'(?:aime|adore|apprends)",
  ),
  unspaced.opening('我(?:更|很|最|也|不|比较|特别)*(?:喜欢|讨厌|爱|偏好)|私は.{0,20}(?:好き|嫌い)'),
]

/** A line such as "My cover letter:" announces a text. */
export const TEXT_TITLES: readonly RegExp[] = [
  anywhere(
    '{textNoun}|(?:news)?letter|linkedin|instagram|caption|headline|title|copy|homework|essay|exercise|example|words|english|grammar|commas?|punctuation|version|page|wall of text|poster|flyer|pitch|slogan|script|quote|song|joke|prompt|input|output|survey|form|eulogy|vows|resume|cv|memoir|blog|thread|subtitle|voicemail|assignment|(?:chat)?gpt|gemini|bot|option|translation|motto|proverb|horoscope',
    '\\p{L}*(?:text|brief|schreiben|satz|sätze|aufsatz|bewerbung|lebenslauf|mail|nachricht|entwurf|gedicht|rede|beitrag|bewertung|kommentar|zitat|profil|version|fassung|überschrift|komma\\p{L}*|zeichensetzung|hausaufgabe\\p{L}*|übung|beispiel\\p{L}*|protokoll|artikel|absatz|lied|strophe|witz|anzeige|werbetext|horoskop|kunde|kundin)',
    'texto|carta|carta de (?:presentación|apresentação)|correo|borrador|rascunho|mensaje|mensagem|poema|letra|canción|canção|discurso|reseña|resenha|comentario|comentário|cita|citação|perfil|versión|versão|título|comas|vírgulas|puntuación|pontuação|deberes|lição|ejercicio|exercício|ejemplo|exemplo|artículo|artigo|párrafo|parágrafo|frase|redacción|redação|anuncio|anúncio|cliente|currículum?|horóscopo|chiste|piada',
    'texte|lettre|lettre de motivation|courriel|mail|brouillon|message|poème|paroles|chanson|discours|avis|commentaire|citation|profil|version|titre|virgules|ponctuation|devoirs?|exercice|exemple|article|paragraphe|phrase|rédaction|annonce|client|cv|horoscope|blague',
  ),
  unspaced.anywhere(
    '信|文章|作文|邮件|草稿|短信|诗|歌词|歌|演讲|评论|简介|简历|标题|标点|作业|例句|段|句|文案|广告|客户|版本|台词|文|手紙|メール|下書き|詩|歌|スピーチ|レビュー|プロフィール|履歴書|志望動機|タイトル|句読点|宿題|例|段落|広告|お客|セリフ',
  ),
]

/** The user has a text written, so what follows is its content. */
export const DICTATIONS: readonly RegExp[] = [
  anywhere(
    '(?:write|draft|compose|type|send|prepare|dictate|take|word|create|generate|come up with) (?:me |us )?(?:down )?(?:an? |the |this |my |some )?(?:\\p{L}+ ){0,4}?(?:{textNoun})(?:.{0,60}?(?: (?:that|saying|says|telling|which says|about how|where|explaining|stating|to the effect|with|like|in which)(?: |:)|:|\\n|-\\s))',
    "(?:tell|write(?: to)?|text|answer|reply to|message|inform|remind|ask|email|let) (?:him|her|them|(?:my|our|the|mr|ms|mrs|dr) \\p{L}+|\\p{L}+)(?: know)? (?:that |i'?m? |we |my |i've )|(?:tell|write|text|answer|reply|respond)(?: to)?(?: (?:him|her|them|my \\p{L}+))?:",
    '(?:take a (?:letter|memo|note)|take (?:this|the following) down|draft a reply|dictation|letter to|message to|note to (?!self|my ?self)|reply to|answer to|email to|text to|open letter|dear diary|postcard to|caption for|post for|status update)(?=.{0,60}[:\\n.])',
    '(?:schreib|schreibe|verfasse|formuliere|entwirf|antworte|sag|sage|richte|teile|erzähl)(?: (?:bitte|mal|mir))? (?:ihm|ihr|ihnen|(?:an )?(?:meine[mnr]?|unsere[mnr]?|de[mnr]|eine[mnr]?|ein) \\p{L}+(?: \\p{L}+){0,4}?)(?:,? dass|:|,? (?:ich|wir|mein)|\\n|\\.)|diktat|nimm (?:folgendes|einen brief)|brief an|nachricht an|antwort an',
    '(?:escribe|escríbele|redacta|dile|diles|responde|contesta|escreve|escreva|redige|redija|diz|diga|responda|responde|avisa|avise)(?:-lhe| a| al| ao| à| para| um| uma| un| una| mi| o| la)*(?: \\p{L}+){0,6}? ?(?:que |:|\\n)|carta (?:a|para|al|ao)|mensaje para|mensagem para|dictado|ditado',
    "(?:écris|écrivez|rédige|rédigez|réponds|répondez|dis|dites)(?:-lui|-leur)?(?: (?:à|au|un|une|le|la|ma|mon|mes|l'))*(?: ?\\p{L}+){0,6}? ?(?:que |qu'|:|\\n)|lettre à|message (?:à|pour)|dictée",
  ),
  unspaced.anywhere(
    '(?:给|帮我给|替我给).{1,15}写|写(?:一封|封|一篇|篇|一首|一段).{0,20}[:：，\\n]|告诉(?:他|她|他们|我(?:老板|妈|爸|妻|丈夫|同事|朋友|妹|姐|哥|弟)).{0,4}[:：,，我]|回复(?:他|她|说|:|：)|致信|口述|转告',
    '(?:に|へ|宛に|あてに)(?:手紙|メール|返事|メッセージ|連絡).{0,10}(?:書いて|作って|送って|して)|(?:と|って)(?:伝えて|返信して|書いて|返して)|手紙:|口述|宛ての',
  ),
]

/** An order to imagine something: what stands before it is meant. */
export const FICTION_OPENINGS: readonly RegExp[] = [
  opening(
    "{lead}(?:pretend|imagine|assume|assuming|suppose|supposing|picture|say (?:i'?m|i am|i have|i live|i was|i earn|i own|we) |(?:in|for) (?:this|the|my|our|an?|each) (?:\\p{L}+ )?(?:exercise|game|scenario|demo|example|sake|test|story|thought experiment|prompt|simulation|scene|d&d|dnd|campaign|rpg|film|movie|play|larp|fantasy))|{lead}(?:nimm|nehmen wir|stell|stellen sie sich|angenommen|gesetzt den fall|spiel)(?: mal| dir)* (?:an|vor|ich|den|die|eine?n?)|{lead}(?:imagin[ae]\\p{L}*|imagínate|supong\\p{L}*|supon\\p{L}*|suponha\\p{L}*|digamos|finge|finja|finjamos|imaginons|imaginez|suppos\\p{L}*|admettons|mettons que|disons que)",
  ),
  opening(
    '{lead}(?:act (?:as|like)|role-?play as|play (?:the (?:role|part) of|an? )|you are (?:now )?(?:an? |my |the )|you play|be my|spiel(?:e)? (?:eine?n?|die rolle)|du bist (?:jetzt |nun )?(?:eine? |meine? )|actúa como|interpreta|age como|aja como|atue como|agis comme|joue (?:le rôle|un))(?!\\p{L})',
  ),
  unspaced.opening('(?:请|现在)?(?:假设|假如|想象|设想|扮演|假装)|(?:では|じゃあ)?(?:想像して)'),
]

/** Nothing in a message with one of these is meant about the user themself. */
export const FICTIONS: readonly RegExp[] = [
  anywhere(
    "pretend (?:to be|you|that|i|we|like)|pretending|assume (?:i|we|my|you|that i|that we)|suppose (?:i'?m|i am|i have|we|my|that)|hypothetical(?:ly)?|let's (?:say|assume|pretend|suppose|imagine)|lets (?:say|assume|pretend|suppose|imagine)|imagine (?:you|that i|i'm|i am|i have|i live|we|my)|role[- ]?play(?:ing)?|roleplays?|act as|acting as|act like|in character|play the (?:role|part)|playing the (?:role|part)|you(?:'re| are) (?:now )?(?:an? |my |the )(?!great|good|best|real|big|very|lot|life|genius|star|gem|legend|help)(?:\\p{L}+ ){0,3}?(?:\\p{L}+(?:er|or|ist|ian|ant|ent|man|woman|ier|eer)|agent|guide|chef|pirate|king|queen|guest|nurse|coach|clerk|judge|spy|wizard|bot|expert|npc|persona|therapist|recruiter|cop|police|friend|mother|mom|father|dad|wife|husband|son|daughter|character|detective|landlord)|you play|i play (?:an?|the) (?!guitar|piano|violin|drums|bass|cello|flute|trumpet|saxophone)|i'll (?:play|be) (?:an?|the|your) |you(?:'ll| will) (?:play|be) |for (?:this|the|an?) (?:exercise|game|scenario|demo|example|sake|test|story|thought experiment|purpose|prompt|simulation)|for the sake of|in (?:this|the|my|our|a) (?:scenario|scene|story|game|dream|novel|simulation|d&d|dnd|campaign|rpg|film|movie|play|larp|fantasy|book)|let's play|thought experiment|fictional|fictitious|made[- ]up|none of this is (?:real|true)|not real(?:ly me)?|persona|npc|let me be the|you be the|(?:i'll|i will|i am going to|i'm gonna) be the|mock (?:interview|trial|call)|dungeons?|what if i|as if i|from the (?:perspective|point of view|pov)|in the (?:voice|style|shoes) of|simulate|simulation|improv|you are me|you're me|i'm (?:now )?(?:your|the) (?:customer|client|patient|student|boss|interviewer|guest|king|villain|hero)|once upon a time|chapter \\d+|act \\d+|scene \\d+|verse \\d*|\\(chorus\\)|\\[(?:verse|chorus|intro|bridge|outro)|chorus:|dreamt|dreamed|in my dream",
    "(?:here'?s|here are|this is|write|continue|finish|these are|for) (?:.{0,30} )?(?:lyrics|poem|haiku|sonnet|song|novel|short story|screenplay|monologue|limerick|fan ?fic\\p{L}*|rap|ballad|fairy tale|fable)(?! (?:is|i like|festival|contest))|opening line|first line|last line|(?:my|the|this) (?:protagonist|main character|narrator|antagonist|character|heroine|avatar)(?! is (?:my|actually))",
    'stell dir vor|nehmen wir (?:mal )?an|rollenspiel\\p{L}*|spiel(?:e|st)? (?:die rolle|eine[n]?|den|du|mal)|du bist (?:jetzt |nun )?(?:ein|eine|mein|meine|der|die) (?!schatz|beste|genie)|tu so|tun wir so|als ob ich|hypothetisch|für (?:diese|die) (?:übung|szene|geschichte)|in (?:diesem|dem|meinem|der|dieser) (?:szenario|spiel|roman|geschichte|traum|rolle|szene|übung)|ausgedacht|fiktiv\\p{L}*|kapitel \\d+|es war einmal|strophe|refrain|aus (?:der )?sicht|gedankenexperiment|kampagne|sagen wir|mal angenommen|hier (?:ist|kommt) .{0,20}(?:gedicht|songtext|lied|roman)',
    'imagina(?:te)? que|imagine que|vamos (?:a )?supor|supongamos|suponhamos|fingir|faz de conta|haz de cuenta|hagamos como|juego de rol|jogo de (?:interpretação|rpg|papéis)|roleplay|rol:|interpreta (?:a|el|o)|actúa como|actua como|age como|aja como|atue como|eres (?:mi|un|una|el|la) (?!genio|amor|crack)|tú eres|você é (?:um|uma|o|a|meu|minha) |tu és (?:um|uma|o|a|meu|minha) |hipotétic\\p{L}*|hipotetic\\p{L}*|ejercicio|exercício|en (?:este|mi|el) (?:escenario|juego|sueño|cuento|novela)|n(?:este|esse|o meu|um) (?:cenário|jogo|sonho|conto)|ficticio|fictício|inventado|capítulo \\d+|érase una vez|había una vez|era uma vez|como si (?:yo|fuera)|como se eu|estribillo|refrão|personaje|personagem',
    "imagine que|imaginons|supposons|fais(?:ons)? (?:comme si|semblant)|jeu de rôle|joue le rôle|joue un|agis comme|tu es (?:mon|ma|un|une|le|la) |vous êtes (?:mon|ma|un|une|le|la) |hypothétique\\p{L}*|pour (?:cet|l') ?exercice|dans (?:ce|cette|le|la|mon|mes) (?:scénario|jeu|histoire|roman|rêve|scène)|fictif|fictive|inventé|chapitre \\d+|il était une fois|refrain|couplet|comme si (?:j|je)|personnage|du point de vue",
  ),
  unspaced.anywhere(
    '假设|假如|假定|想象|设想|如果我是|角色扮演|扮演|你是(?:一名|一个|一位|我的|医生|老师|客服|面试官)|假装|装作|我演|剧本|小说|第[一二三四五六七八九十0-9]+章|从前|虚构|编的|练习[:：]|情景|模拟|要是我|游戏里|梦里|梦见|副歌|主歌',
    'と仮定|と想像|想像して|もし私が|もし僕が|としましょう|としよう|ロールプレイ|になりきっ|のふりを|ふりをして|あなたは.{1,12}(?:役|です。私は|で、?私は|で、?僕は)|という設定|設定で|架空|フィクション|小説|第[一二三四五六七八九十0-9]+章|昔々|むかしむかし|演じ|仮の話|例え話|ゲームで|夢の中で|夢を見|サビ',
  ),
]

/** Sarcasm shows in marks and set phrases that nobody means. */
export const SARCASMS: readonly RegExp[] = [
  /(?:^|\s)\/s(?:arcasm)?(?:\s|[.!)]|$)|🙄|🙃|\((?:irony|sarcasm|not|ironie|ironía|ironia|sarkasmus|笑|嘘|反语)\)|#(?:not|sarcasm|ironie|blessed)|<\/?(?:sarcasm|irony|s)>|~not~|\*(?:rolls? eyes|eye ?roll|slow clap|sarcasm)\*/iu,
  anywhere(
    "yeah,? right|oh,? (?:sure|great|joy|yes|yeah|wow|fantastic|brilliant|perfect|wonderful|lovely|fun|goody|of course|absolutely|totally|how|well)|said no one|said nobody|as if(?= [^i]|\\W*$)|just what i (?:needed|wanted)|what a (?:joy|treat|surprise|delight|thrill|dream|shock)|how (?:lovely|wonderful|thrilling|delightful|exciting|fun)|thrilled (?:that|to)|because (?:who|obviously|clearly|apparently)|sure,? (?:because|i|my|we|why)|of course i (?:love|adore|enjoy|just)|not like i|who doesn't love|nothing (?:better|beats|like) |my favou?rite (?:thing|pastime|hobby|way|part)(?: in the world| ever| of all)? (?:is|was|:)? ?(?:being|getting|waiting|sitting|standing|spending hours|stuck|when)|living the dream|lucky me|can't wait to (?:sit|spend|pay|be stuck|wait|do (?:my )?taxes)|(?:totally|absolutely|just|simply|so) (?:love|adore|enjoy|thrilled|live for|love it|loving) (?:it )?(?:when|being|sitting|waiting|having to|paying|getting (?:up|stuck|yelled|woken)|spending|standing|that|how|queu|working (?:weekends|overtime|late)|cleaning|doing (?:taxes|dishes))|i(?:'m| am) (?:totally|clearly|obviously|definitely|apparently|sooo+|such) (?:a )?(?:morning person|rich|millionaire|genius|made of|the (?:king|queen)|fine with)|not\\.$|(?:rolls|roll) (?:my )?eyes|sarcas(?:m|tic(?:ally)?)|irony|ironically|made of money|best day ever|love that for me|exactly what i (?:needed|wanted)|big surprise|no,? really|nooo+t",
    'na (?:toll|super|klar|prima|klasse|bravo|wunderbar|herrlich)|ja,? (?:klar|genau|sicher|super)|ironie|sarkas\\p{L}*|toll,? (?:ich|dass|wieder|mal)|super,? (?:ich|dass|wieder|mal)|wie schön|ganz toll|ich liebe es,? (?:.{0,60} )?(?:zu (?:stehen|warten|sitzen|werden|müssen|zahlen)|wenn)|was für ein (?:spaß|glück|traum)|genau (?:das|mein ding)|hat mir gerade noch gefehlt|haha,? klar|als ob|wer liebt es nicht',
    'sí,? claro|si,? claro|claro que sí|cómo no|qué (?:bien|alegría|divertido|maravilla|suerte la mía)|justo lo que (?:necesitaba|me faltaba)|me encanta (?:esperar|hacer cola|que me|madrugar para|pagar|cuando|estar atrapad|quedarme sin|trabajar (?:gratis|los domingos))|ironía|nótese|sarcasmo|ajá|dijo nadie|quién no (?:ama|adora)',
    'claro,? (?:adoro|que sim|eu (?:amo|adoro)|porque)|aham|até parece|só que não|sqn|que (?:maravilha|alegria|delícia|sorte a minha)|era só o que (?:faltava|me faltava)|adoro (?:esperar|pagar|quando|ficar (?:preso|presa|na fila)|acordar (?:às|com)|trabalhar (?:de graça|no domingo|aos domingos))|ironia|disse ninguém|quem não ama',
    "bien sûr,? (?:j'adore|que)|ben voyons|c'est ça|mais oui|quel (?:bonheur|plaisir|pied)|quelle (?:joie|chance|surprise)|génial,? (?:je|encore|j')|super,? (?:je|encore|j')|j'adore (?:attendre|payer|quand|être (?:coincé|réveillé)|faire la queue|passer (?:des|mes|trois|deux) heures|travailler (?:le dimanche|gratuitement))|ironi(?:e|que)|sarcas\\p{L}*|trop (?:hâte|bien|content) de (?:payer|faire|passer|bosser)|exactement ce qu'il me fallait|qui n'aime pas",
  ),
  unspaced.anywhere(
    '呵呵|可太(?:喜欢|爱|好)|真是太(?:好|棒|喜欢|幸运)|太棒了[,，].{0,8}又|才怪|反话|讽刺|谁不(?:爱|喜欢)|我可真(?:是)?|爱死了?.{0,8}(?:加班|堵车|排队|早起)|最喜欢.{0,4}(?:加班|堵车|排队|被)|(?:真|好)开心[,，].{0,6}又|谢谢啊',
    'はいはい|最高ですね|大好きですよ|嬉しくて涙|皮肉|さすがですね|(?:渋滞|残業|満員電車|行列|待つの|待たされる|怒られる|叱られる)(?:が|は|って)?(?:本当に|ほんとに|もう)?(?:大?好き|最高|楽し|嬉し)|(?:好き|楽し|嬉し).{0,6}(?:なわけ|わけない|わけが)|なんちゃって|わーい、?また|ありがたいことに、?また|ご褒美',
  ),
]

/** Somebody else says, writes or is quoted, and their words follow: after a colon, or on the next lines. */
export const REPORTS: readonly RegExp[] = [
  anywhere(
    '(?:said|says|say|saying|wrote|writes|write|written|told|tells|telling|texted|texts|replied|replies|answered|posted|posts|tweeted|claims?|claimed|emailed|mailed|messaged|asked|asks|announced|shouted|whispered|yelled|quoted?|reads|went|goes|was like|is like|mentioned|stated|states|explained|commented|complained|admitted|confessed|sent|sends|sent me|left|got|received|heard|overheard|sang|sings|gave me|gives me|generated|came up with|produced|suggested|literally says)(?: \\S+){0,8}?\\s*[:\\n]',
    '(?:{textNoun}|words|text|quote|horoscope|profile|sign|website|page|article|book|reviewer|customer|client|user|caller|guest|patient|speaker|author|singer|narrator|commenter|redditor|applicant|candidate|colleague|employee|fan|tenant) (?:from|of|by|on|in|at|says?|said|wrote|writes|told|reads)(?: \\S+){0,8}?\\s*[:\\n]',
    '(?:schrieb|schreibt|geschrieben|sagte|sagt|gesagt|meinte|meint|antwortete|antwortet|erzählte|erzählt|postete|rief|fragte|behauptet|behauptete|steht|stand|mailte|textete)(?: \\S+){0,8}?\\s*[:\\n]|(?:mail|nachricht|sms|brief|zitat|kommentar|bewertung|post|text|aussage|worte) (?:von|meine[rs]|eine[rs]|de[rs])(?: \\S+){0,6}?\\s*[:\\n]',
    '(?:escribió|escribe|escribieron|dijo|dice|dicen|contestó|respondió|me mandó|mandó|publicó|contó|comentó|puso|decía|pone|escreveu|disse|diz|dizem|respondeu|mandou|postou|publicou|contou|comentou|falou)(?: \\S+){0,8}?\\s*[:\\n]|(?:mensaje|mensagem|correo|e-?mail|carta|reseña|comentario|comentário|cita|texto|palabras|palavras) (?:de|da|do|del)(?: \\S+){0,6}?\\s*[:\\n]',
    "(?:a écrit|écrit|m'écrit|a dit|dit|m'a dit|disait|a répondu|répond|a posté|raconte|a raconté|m'a envoyé|a envoyé|commente|a commenté)(?: \\S+){0,8}?\\s*[:\\n]|(?:message|mail|courriel|lettre|avis|commentaire|citation|sms|texto|paroles) (?:de|du|d')(?: ?\\S+){0,6}?\\s*[:\\n]",
  ),
  unspaced.anywhere(
    '(?:写道|说道|说|写|回复|发来|发的|留言|评论|表示|告诉我|问我|来信|短信|邮件|微信|原话)[^，。！？]{0,8}[:：\\n]',
    '(?:が|は|から|の|と)?(?:言いました|言った|言っていた|書いた|書いていた|書いてきた|メール|メッセージ|LINE|コメント|投稿|レビュー|手紙|発言|返信|セリフ|引用)[^、。！？]{0,8}[:：\\n]',
  ),
]

/** After the words of others, these bring back the user's own. */
export const ASIDES: readonly RegExp[] = [
  opening(
    "(?:oh,? |and |also,? )?(?:by the way|btw|fyi|p\\.?s\\.?|on another note|unrelated|separately|anyway|as for me|about me|for real|also for (?:your|the) (?:info|record)|side note|(?:that's|this is) (?:me|for me|why i)|my own|in (?:my|real) (?:case|life)|übrigens|nebenbei|zu mir|was mich angeht|por cierto|aparte|por otro lado|a propósito|aliás|por falar|au fait|sinon|à propos|quant à moi|pour ma part)(?=[\\s,:.;!-])",
  ),
  unspaced.opening('顺便|对了|另外|至于我|ちなみに|ところで|余談|私自身は|追伸'),
]

/** What a task refers to when its text stands before it. */
export const BACK_REFERENCES: readonly RegExp[] = [
  anywhere(
    '{taskRoot}|this|that|it|these|those|them|above|<-|everything|answer|reply|respond|text|paragraph|sentence|in (?:one|a) sentence|draft|das|dies\\p{L}*|daraus|es|ihn|text|satz|absatz|oben|antworten|erwidern|esto|est[ae]|eso|es[ae]|texto|frase|arriba|respondo|contesto|responder|\\p{L}+(?:lo|la)|isso|isto|acima|respondo|ça|ce|cette|ceci|cela|le|texte|phrase|ci-dessus|réponds|répondre',
  ),
  unspaced.anywhere('上面|这|以上|原文|它|怎么回|この|その|上の|上記|これ|それ|返'),
]

/** An introduction of the user's own statements, although a colon follows. */
export const OWN_INTRODUCTIONS: readonly RegExp[] = [
  anywhere(
    "about (?:me|myself|us|my)|news|thing|things|question|quick q|story|truth|confession|reason|deal|summary|plan|status|profile|answer|result|bonus|spoiler|warning|disclaimer|hey|hi|hello|ok|okay|so|well|also|anyway|yes|no|sure|thanks|honestly|actually|basically|frage|neuigkeit\\p{L}*|sache|nachricht(?=en)|stand|grund|also|hallo|ja|nein|ok|noticia\\p{L}*|novedad\\p{L}*|pregunta|cosa|dato|motivo|hola|sí|bueno|notícia\\p{L}*|novidade\\p{L}*|pergunta|coisa|motivo|olá|sim|bom|nouvelle\\p{L}*|question|chose|info|raison|salut|oui|bon|(?:remember|note|keep in mind|don'?t forget|note to self|reminder|fyi|btw|update|correction|heads[- ]up|context|background|facts?|know|my (?:situation|preferences?|setup|diet|allergies|stack|goals?|plans?|background|rules?|requirements|info|details|case|problem|issue))|(?:merke?|notiere?|denk dran|vergiss nicht|zu mir|über mich|wichtig)|(?:recuerda|anota|sobre mí|ten en cuenta|no olvides|lembra|lembre|anote|sobre mim|não esqueç\\p{L}+)|(?:souviens|retiens|note|rappelle|à propos de moi|n'oublie)",
  ),
  unspaced.anywhere(
    '关于我|记住|记下|备注|我的情况|自我介绍|覚えて|メモ|私について|自己紹介|忘れないで',
  ),
]
