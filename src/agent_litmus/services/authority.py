"""A run's own certificate authority: what HTTPS clients in the sandbox are told to trust."""

import datetime as dt
import ipaddress
import ssl
import tempfile

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

MAX_CONTEXTS = 256
"""Hosts whose certificates are kept; the oldest give way."""
_DAYS = 30
_LONGEST_NAME = 253


class ServerSide(ssl.SSLObject):
    """The server's end of one TLS connection."""

    asked = ""
    """The host that the client named (SNI); hostile."""


class Authority:
    """Signs a certificate for whatever host a client asks for.

    Its keys are made for one run and protect nothing: whatever trusts it is in a sandbox of that run.
    """

    def __init__(self) -> None:
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._leaf_key = ec.generate_private_key(ec.SECP256R1())
        now = dt.datetime.now(dt.UTC)
        self._from, self._until = now - dt.timedelta(days=1), now + dt.timedelta(days=_DAYS)
        self._name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "agent-litmus run authority")])
        self._contexts: dict[tuple[str, ...], ssl.SSLContext] = {}
        self.pem = self._root().public_bytes(serialization.Encoding.PEM).decode("ascii")
        """Its certificate, to be given to clients."""

    def context(self, *names: str) -> ssl.SSLContext:
        """A server's context for hosts of these names or addresses; another host that a client asks for wins.

        Raises:
            ValueError: A name cannot be that of a host.
        """
        found = self._contexts.get(names)
        if found is None:
            found = self._contexts[names] = self._make_context(names)
            if len(self._contexts) > MAX_CONTEXTS:
                del self._contexts[next(iter(self._contexts))]
        return found

    def _make_context(self, names: tuple[str, ...]) -> ssl.SSLContext:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.sslobject_class = ServerSide
        context.set_alpn_protocols(["http/1.1"])
        context.options |= ssl.OP_NO_TICKET
        context.sni_callback = self._choose
        secret = self._leaf_key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
        with tempfile.NamedTemporaryFile() as file:  # the library reads keys from files alone
            file.write(self._leaf(names).public_bytes(serialization.Encoding.PEM) + secret)
            file.flush()
            context.load_cert_chain(file.name)
        return context

    def _choose(self, tls: ssl.SSLObject, name: str | None, _: ssl.SSLContext) -> int | None:
        if name and isinstance(tls, ServerSide):
            tls.asked = name.rstrip(".").lower()
            try:
                tls.context = self.context(tls.asked)
            except ValueError:
                return ssl.ALERT_DESCRIPTION_UNRECOGNIZED_NAME
        return None

    def _root(self) -> x509.Certificate:
        usage = x509.KeyUsage(
            digital_signature=True,
            content_commitment=False,
            key_encipherment=False,
            data_encipherment=False,
            key_agreement=False,
            key_cert_sign=True,
            crl_sign=True,
            encipher_only=False,
            decipher_only=False,
        )
        return (
            self._builder(self._name, self._key.public_key())
            .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
            .add_extension(usage, critical=True)
            .add_extension(x509.SubjectKeyIdentifier.from_public_key(self._key.public_key()), critical=False)
            .sign(self._key, hashes.SHA256())
        )

    def _leaf(self, names: tuple[str, ...]) -> x509.Certificate:
        subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "agent-litmus sink")])
        server = x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH])
        issuer = x509.AuthorityKeyIdentifier.from_issuer_public_key(self._key.public_key())
        return (
            self._builder(subject, self._leaf_key.public_key())
            .add_extension(x509.SubjectAlternativeName([_general(name) for name in names]), critical=False)
            .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
            .add_extension(server, critical=False)
            .add_extension(issuer, critical=False)
            .sign(self._key, hashes.SHA256())
        )

    def _builder(self, subject: x509.Name, key: ec.EllipticCurvePublicKey) -> x509.CertificateBuilder:
        return (
            x509.CertificateBuilder()
            .subject_name(subject)
            .issuer_name(self._name)
            .public_key(key)
            .serial_number(x509.random_serial_number())
            .not_valid_before(self._from)
            .not_valid_after(self._until)
        )


def _general(name: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(name.partition("%")[0]))
    except ValueError:
        pass
    if not 0 < len(name) <= _LONGEST_NAME:
        raise ValueError("no host has such a name")
    return x509.DNSName(name)
