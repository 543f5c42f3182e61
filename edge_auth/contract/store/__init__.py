"""Stores: the folder or bucket that holds the builds.

interface         what generator and shim need of a store
open              from a location to a store; the list of backends
folder            a store in a folder
s3                a store in a bucket
bucket            requests to a bucket, also for lakes
s3_errors         boto3's errors as StoreError
file_cache        local copies of objects, for mapping into memory
"""
