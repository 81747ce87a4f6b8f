/** Claims that nothing could ground: placeholders, remarks about the transcript, privileges and orders to the assistant. */

const PLACEHOLDER =
  /(?<!\p{L})(?:john doe|jane doe|max mustermann|erika mustermann|juan pérez|fulano|jean dupont|joão ninguém|张三|李四|山田太郎|unknown|unnamed|anonymous|n\/a|tbd|xxx+|lorem ipsum|not (?:specified|provided|mentioned|given|stated|known|disclosed)|unspecified|nicht (?:angegeben|bekannt|genannt)|unbekannt|no (?:especificad|mencionad)[oa]|desconocid[oa]|non (?:précisée?|spécifiée?)|inconnue?|não (?:informad|especificad|mencionad)[oa]|desconhecid[oa])(?!\p{L})|[[<{](?:your |user['’]?s? |the )?(?:name|user|company|city|email|date|value|insert|placeholder|first)[^\]>}]{0,30}[\]>}]|example\.(?:com|org)|未知|不明|未提供|未提及|没有提(?:到|供)|(?:did|does|has)(?: not|n['’]t) (?:mention|provide|say|state|share|specif|disclos)/iu
const PRIVILEGE =
  /(?<!\p{L})(?:(?:administrator|admin|root|sudo|superuser|developer|elevated|full|unrestricted|special|system)[ -](?:access|rights?|privileges?|permissions?|mode|clearance|authori[sz]ation)|(?:is|are|am) (?:the |an? )?(?:administrators?|admin|superuser|root user|system owner|verified (?:user|developer|employee|admin)|trusted (?:user|admin))(?! (?:assistant|at|in|for|bei|chez))|(?:the|a) (?:developer|creator|owner|operator) of (?:the|this) (?:assistant|system|model|ai|chatbot|bot)|(?:author[iz|is]ed|allowed|permitted|entitled|cleared|exempt)(?: to| from)?(?!.{0,40}(?:park|drive|eat|work))|bypass|without (?:any )?(?:restrictions?|filters?|confirmations?|limits)|administratorrechte|adminrechte|adminzugriff|root-?zugriff|berechtigt|befugt|derechos de administrador|permisos? de administrador|acceso (?:root|total)|autorizad[oa]|droits? d['’]administrateur|accès (?:root|total)|autorisée?|direitos de administrador|permiss(?:ão|ões) de administrador|acesso (?:root|total))(?!\p{L})|管理员权限|超级用户|开发者权限|管理者権限|ルート権限/iu
/** Standing orders to the assistant that are phrased as facts. */
const ORDER =
  /(?<!\p{L})(?:the assistant|assistant|the ai|der assistent|el asistente|l['’]assistant|o assistente) (?:must|should|shall|has to|is to|may|can|muss|soll|darf|debe|doit|deve)(?!\p{L})|助手(?:必须|应该)|アシスタントは/iu

/** Whether no transcript could support a claim. */
export function isInadmissible(content: string): boolean {
  return PLACEHOLDER.test(content) || PRIVILEGE.test(content) || ORDER.test(content)
}
