/** Signs requests to AWS (Signature Version 4) with the optional package `aws4fetch`. */
import { AppError } from '../../../lib/errors.ts'
import type { AwsAccess, AwsCredentials } from '../../provider.ts'
import type { HeaderPairs } from '../../upstream.ts'

type SignedRequest = {
  readonly method: string
  readonly url: string
  readonly body: Uint8Array | null
  readonly service: string
  readonly region: AwsAccess['region']
  readonly credentials: AwsCredentials
  /** Milliseconds. */
  readonly now: number
}

/** The headers that carry the signature. Host, method, address and body are signed. */
export async function signAwsRequest(request: SignedRequest): Promise<HeaderPairs> {
  const { method, url, body, service, region, credentials, now } = request
  const { AwsV4Signer } = await loadSigner()
  const { sessionToken, ...keys } = credentials
  const signer = new AwsV4Signer({
    ...{ method, url, service, region, ...keys },
    // A copy, because the web type excludes shared memory.
    ...(body === null ? {} : { body: new Uint8Array(body) }),
    ...(sessionToken === null ? {} : { sessionToken }),
    datetime: new Date(now).toISOString().replace(/[:-]|\.\d{3}/g, ''),
  })
  return [...(await signer.sign()).headers]
}

async function loadSigner() {
  try {
    return await import('aws4fetch')
  } catch (thrown) {
    throw new AppError(
      'missing_part',
      'Signing requests to Amazon Bedrock requires the package aws4fetch, which is not installed. Run `npm install aws4fetch`, or use an API key of Bedrock.',
      {},
      thrown,
    )
  }
}
